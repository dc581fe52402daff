"""The pocket actor: a small real actor in the Qwen3-VL architecture, trained and run on a CPU."""
