// Returns [instruction, nodes]: what is visible on a MiniWoB++ page, in document order.
// A node: {role, text, appearance, box: [left, top, right, bottom] in CSS pixels, id, classes, group}.
const [WIDTH, TOP, BOTTOM] = arguments;
const SKIP = new Set(['query', 'reward-display', 'sync-task-cover', 'click-canvas']);
const DECORATION = /ui-resizable-handle|ui-icon-grip/;
const GROUPS = '.media, .email-thread, li, .widget';
const SHAPES = {circle: 'circle', rect: 'rectangle', polygon: 'triangle', ellipse: 'ellipse', path: 'path'};
const nodes = [], groups = [];

function classesOf(el) {
  const name = typeof el.className === 'string' ? el.className : el.className.baseVal;
  return (name || '').split(/\s+/).filter(Boolean);
}
function ownText(el) {
  return [...el.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).filter(Boolean).join(' ');
}
function labelOf(input) {
  const wrap = input.closest('label');
  if (wrap) return wrap.textContent;
  const named = input.id && document.querySelector(`label[for="${input.id}"]`);
  if (named) return named.textContent;
  const before = input.previousElementSibling;
  if (before && before.tagName === 'LABEL') return before.textContent;
  return input.placeholder || '';
}
function roleOf(el, tag, classes) {
  if (tag === 'button' || (tag === 'input' && ['button', 'submit'].includes(el.type))) return 'button';
  if (tag === 'a') return classes.includes('ui-spinner-button') ? 'button' : el.closest('.ui-tabs-nav') ? 'tab' : 'link';
  if (classes.includes('alink')) return 'link';
  if (classes.includes('folder') || classes.includes('file')) return 'link';
  if (tag === 'input') return ['radio', 'checkbox'].includes(el.type) ? el.type : 'textbox';
  if (tag === 'textarea') return 'textarea';
  if (tag === 'h3' && classes.includes('ui-accordion-header')) return 'header';
  if (tag in SHAPES) return 'shape';
  if (tag === 'text') return 'shape';
  if (classes.includes('color')) return 'box';
  const style = getComputedStyle(el);
  const picture = style.backgroundImage !== 'none' || style.content.startsWith('url');
  if (picture && !el.textContent.trim() && el.getBoundingClientRect().width < 40) return 'icon';
  return '';
}
function appearanceOf(el, tag, role, classes) {
  if (role === 'box') return el.dataset.color || '';
  if (role === 'icon') return (classes.filter(c => !/^(hide|clicked|icon)$/.test(c))[0] || el.id || classesOf(el.parentElement)[0] || '').replace('email-', '');
  if (role === 'shape') {
    const rect = el.getBoundingClientRect();
    const colour = el.getAttribute('fill') || el.style.fill || el.getAttribute('stroke') || '';
    const what = tag === 'text' ? (/[0-9]/.test(el.textContent) ? 'digit ' : 'letter ') + el.textContent.trim() : SHAPES[tag];
    return `${Math.max(rect.width, rect.height) > 14 ? 'large' : 'small'} ${colour} ${what}`;
  }
  if (classes.includes('ui-spinner-button')) return classes.includes('ui-spinner-up') ? 'up' : 'down';
  if (role === 'radio' || role === 'checkbox') return el.checked ? 'checked' : '';
  return '';
}
function shown(el, rect) {
  if (rect.width < 1 || rect.height < 1) return false;
  const style = getComputedStyle(el);
  if (style.visibility === 'hidden' || style.display === 'none' || +style.opacity === 0) return false;
  const x = (rect.left + rect.right) / 2, y = (rect.top + rect.bottom) / 2;
  if (x < 0 || y < TOP || x >= WIDTH || y >= BOTTOM) return false;
  const top = document.elementFromPoint(x, y);
  return !!top && (top === el || el.contains(top) || (top.contains(el) && el instanceof SVGElement)
    || (el.closest('label') || el).contains(top));
}
function add(el, role, text, rect, appearance) {
  const row = el.closest(GROUPS);
  if (row && !groups.includes(row)) groups.push(row);
  nodes.push({role, text, appearance, box: [rect.left, rect.top, rect.right, rect.bottom],
              id: el.id || '', classes: classesOf(el), group: row ? groups.indexOf(row) : -1});
}
function walk(el) {
  if (SKIP.has(el.id) || ['SCRIPT', 'STYLE'].includes(el.tagName)) return;
  const tag = el.tagName.toLowerCase(), classes = classesOf(el);
  if (DECORATION.test(classes.join(' '))) return;
  const role = roleOf(el, tag, classes);
  if (role) {
    const input = ['radio', 'checkbox', 'textbox', 'textarea'].includes(role);
    const holder = input && el.closest('label') || el;
    const rect = role === 'link' ? holder.getClientRects()[0] : holder.getBoundingClientRect();
    if (rect && shown(el, rect)) {
      const text = ['textbox', 'textarea'].includes(role) ? el.value || labelOf(el) : input ? labelOf(el)
        : ['shape', 'icon', 'box'].includes(role) ? '' : el.textContent || el.value || el.title || '';
      add(el, role, text, rect, appearanceOf(el, tag, role, classes));
    }
    return;
  }
  const text = tag === 'label' && el.querySelector('input') ? '' : ownText(el);
  if (text && el.id !== 'area') {
    const range = document.createRange();
    const node = [...el.childNodes].find(n => n.nodeType === 3 && n.data.trim());
    range.selectNodeContents(node);
    const rect = range.getClientRects()[0];
    if (rect && shown(el, rect)) add(el, 'text', text, rect, '');
  }
  for (const child of el.children) walk(child);
}
walk(document.body);
return [core.getUtterance().utterance || core.getUtterance(), nodes];
