import pytest
import torch
from activation_samples import IMAGE_MODELS, image, user
from PIL import Image

from activations import Pair, PromptError, encode, encode_pair
from activations.prompts import prompt_hash

PLACEHOLDER = "<|image_pad|>"


@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_inputs_are_those_of_the_processor_itself(load, name):
    _, processor = load(name)
    messages = user("Past.", image(1), image(2, (32, 90)), "What next?")
    kwargs = {"enable_thinking": False} if name == "qwen3_5" else {}
    expected = processor.apply_chat_template(
        messages,
        tokenize=True,
        add_generation_prompt=True,
        return_dict=True,
        return_tensors="pt",
        **kwargs,
    )
    found = encode(processor, messages, **kwargs)
    assert set(found.inputs) == set(expected)
    assert all(torch.equal(found.inputs[key], expected[key]) for key in expected)
    assert found.prompt_tokens == expected["input_ids"].shape[1]
    assert found.image_tokens == int(expected["mm_token_type_ids"].sum())
    assert found.last_token_id == int(expected["input_ids"][0, -1])


def test_text_only_prompt_is_that_of_the_tokenizer(load):
    _, tokenizer = load("llama")
    expected = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Number?"}], add_generation_prompt=True, return_dict=True
    )
    for messages in (user("Num", "ber?"), [{"role": "user", "content": "Number?"}]):
        found = encode(tokenizer, messages)
        assert found.inputs["input_ids"][0].tolist() == expected["input_ids"]
        assert found.image_tokens == 0


def test_string_is_taken_without_a_template(load):
    _, tokenizer = load("llama")
    found = encode(tokenizer, "abc")
    assert tokenizer.decode(found.inputs["input_ids"][0]) == "abc"
    assert found.final_token_ids == (found.last_token_id,)


def test_final_tokens_are_the_generation_prompt(load):
    _, processor = load("qwen3_5")
    found = encode(processor, user("Go."), enable_thinking=False)
    assert processor.tokenizer.decode(list(found.final_token_ids)) == (
        "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


def test_hash_depends_on_text_pixels_size_and_order(load):
    _, processor = load("qwen3_vl")
    other_pixel = image(1)
    other_pixel.putpixel((3, 3), (1, 2, 3))
    prompts = [
        user("a", image(1), image(2)),
        user("b", image(1), image(2)),
        user("a", other_pixel, image(2)),
        user("a", image(2), image(1)),
        user(image(1), "a", image(2)),
    ]
    hashes = [encode(processor, prompt).prompt_sha256 for prompt in prompts]
    assert len(set(hashes)) == len(prompts)
    assert hashes[0] == encode(processor, prompts[0]).prompt_sha256
    wide, tall = Image.new("RGB", (2, 3)), Image.new("RGB", (3, 2))
    assert prompt_hash("a", [wide]) != prompt_hash("a", [tall])
    assert prompt_hash("", []) == "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc"


def test_placeholder_written_in_the_text_is_refused(load):
    _, processor = load("qwen3_vl")
    with pytest.raises(PromptError, match="no images were passed"):
        encode(processor, user(f"a label {PLACEHOLDER}"))
    with pytest.raises(PromptError, match="number of images"):
        encode(processor, user(f"a label {PLACEHOLDER}", image(1)))


def test_placeholders_are_counted_against_the_image_grid(load):
    _, processor = load("qwen3_vl")

    class Cutting(type(processor)):
        """Loses the last placeholder of an image, as truncation would."""

        def __call__(self, *args, **kwargs):
            inputs = super().__call__(*args, **kwargs)
            place = int((inputs["input_ids"][0] == self.image_token_id).nonzero()[-1])
            inputs["input_ids"][0, place] = 65
            return inputs

    cutting = Cutting(
        image_processor=processor.image_processor,
        tokenizer=processor.tokenizer,
        video_processor=processor.video_processor,
        chat_template=processor.chat_template,
    )
    with pytest.raises(PromptError, match="3 image placeholders, expected 4 for its 1 images"):
        encode(cutting, user(image(1), "Go."))


def test_images_that_are_no_pictures_are_refused(load):
    _, processor = load("qwen3_vl")
    messages = [{"role": "user", "content": [{"type": "image", "image": "a.png"}]}]
    with pytest.raises(PromptError, match="holds str, expected a PIL image"):
        encode(processor, messages)
    with pytest.raises(PromptError, match="takes text only"):
        encode(load("llama")[1], user(image(1)))


def test_pair_names_step_and_condition(load):
    _, processor = load("qwen3_vl")
    good = user("Past.", image(1), "What next?")
    with pytest.raises(PromptError, match=r"'step-3' has no prompt for condition 'image'"):
        encode_pair(processor, Pair("step-3", "e", {"text": good}), ("text", "image"))
    bad = user(f"{PLACEHOLDER}", "What next?")
    with pytest.raises(PromptError, match=r"step 'step-3', condition 'text': .*no images"):
        encode_pair(processor, Pair("step-3", "e", {"text": bad, "image": good}), ("text", "image"))


def test_pair_with_different_last_tokens_is_refused(load):
    _, tokenizer = load("llama")
    pair = Pair("step-3", "e", {"a": "sky is", "b": "sky was red"})
    with pytest.raises(PromptError, match=r"'step-3': the prompts end in different tokens, 'a' in"):
        encode_pair(tokenizer, pair, ("a", "b"))


def test_pair_is_encoded_in_the_order_of_the_conditions(load):
    _, processor = load("qwen3_vl")
    pair = Pair("s", "e", {"image": user(image(1), "Go."), "text": user("Go.")})
    assert [p.image_tokens for p in encode_pair(processor, pair, ("text", "image"))] == [0, 4]
