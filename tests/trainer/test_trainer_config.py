"""Configurations: frozen, checked field by field, their defaults resolved into a new one."""

import os
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from qkv.commands.train.parser import argument_docs
from qkv.config import ModelConfig
from qkv.shapes.fields import field_types
from qkv.trainer import DataConfig, RuntimeConfig, TrainingConfig
from qkv.trainer.config import ChangedFieldError, check_tie

CONFIGS = [DataConfig, ModelConfig, TrainingConfig, RuntimeConfig]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_configuration_is_frozen_and_every_field_has_a_default_and_words(config):
    made = config()
    name = fields(config)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(made, name, None)
    assert made == config(**vars(made))
    for name, field in field_types(config).items():
        assert getattr(made, name) == field.default
        assert argument_docs(config)[name]


@pytest.mark.parametrize(
    ("config", "field", "value", "words"),
    [
        (DataConfig, "columns", (1, 0), "columns must be a whole number of at least 1, got 0"),
        (DataConfig, "columns", (1, 2, 3), "columns must be 2 values, got (1, 2, 3)"),
        (DataConfig, "columns", 1, "columns must be 2 values, got 1"),
        (DataConfig, "split", "none", "split must be one of 'combination', 'random', got 'none'"),
        (DataConfig, "validation_fraction", 1, "number of at least 0 and below 1, got 1"),
        (
            DataConfig,
            "vocab_size",
            7,
            "vocab_size must be a whole number of at least 8 and below 2,147,483,648, got 7",
        ),
        (DataConfig, "words", 1, "words must be True or False, got 1"),
        (DataConfig, "source", 3, "source must be a str, got 3"),
        (DataConfig, "max_len", True, "max_len must be a whole number of at least 2, got True"),
        (ModelConfig, "n_heads", 0, "n_heads must be a whole number of at least 1, got 0"),
        (ModelConfig, "n_layers", None, "n_layers must be a whole number of at least 1, got None"),
        (ModelConfig, "norm", "batch", "norm must be one of 'layer', 'rms', got 'batch'"),
        (
            ModelConfig,
            "tie_word_embeddings",
            "source",
            "tie_word_embeddings must be one of 'none', 'target', 'all', got 'source'",
        ),
        (TrainingConfig, "epochs", 0, "a number above 0 and below 1,000,000,000, got 0"),
        (TrainingConfig, "epochs", 1e308, "above 0 and below 1,000,000,000, got 1e+308"),
        (TrainingConfig, "steps", 10**9, "and below 1,000,000,000, got 1000000000"),
        (TrainingConfig, "steps", 1.5, "at least 1 and below 1,000,000,000, got 1.5"),
        (TrainingConfig, "learning_rate", float("nan"), "number of at least 0, got nan"),
        (TrainingConfig, "learning_rate", "high", "number of at least 0, got 'high'"),
        (TrainingConfig, "max_grad_norm", 0, "max_grad_norm must be a number above 0, got 0"),
        (TrainingConfig, "betas", [0.9, 1], "betas must be a number of at least 0 and below 1"),
        (
            TrainingConfig,
            "seed",
            -1,
            "whole number of at least 0 and below 18,446,744,073,709,551,616, got -1",
        ),
        (RuntimeConfig, "threads", 0, "threads must be a whole number of at least 1 and below 4,"),
        (RuntimeConfig, "threads", 10**9, "at least 1 and below 4,096, got 1000000000"),
        (RuntimeConfig, "bf16", "yes", "bf16 must be True or False, got 'yes'"),
    ],
)
def test_what_does_not_fit_is_named(config, field, value, words):
    with pytest.raises(ValueError, match=f"^{config.__name__}: {field} must be ") as found:
        config(**{field: value})
    assert words in str(found.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"source": "a"}, "`source` and `target` go together: line 1 of one stands beside line 1"),
        ({"valid_target": "a"}, "`valid_source` and `valid_target` go together"),
        ({"source": "a", "target": "b", "tsv": "c"}, "`tsv` and `source` are two places"),
    ],
)
def test_fields_that_do_not_go_together(options, words):
    with pytest.raises(ValueError, match=f"DataConfig: {words}"):
        DataConfig(**options)


def test_values_become_pythons_own_and_paths_absolute(tmp_path):
    config = DataConfig(columns=[np.int64(3), 2], tsv=tmp_path / "a", max_len=np.int32(9))
    assert (config.columns, config.max_len) == ((3, 2), 9)
    assert {type(config.max_len), *map(type, config.columns)} == {int}
    assert config.tsv == str(tmp_path / "a")
    assert DataConfig(tsv="a.tsv").tsv == os.path.abspath("a.tsv")


def test_defaults_are_resolved_into_a_new_configuration():
    config = TrainingConfig()
    resolved = config.resolved(steps_per_epoch=500, epochs=4.0)
    assert config == TrainingConfig()
    assert resolved == replace(
        config, epochs=4.0, steps=2000, warmup=200, learning_rate=2e-3, validate_every=200
    )
    assert resolved.resolved(500, 9.0) == resolved
    assert TrainingConfig(epochs=0.5).resolved(3, 4.0).steps == 2
    assert TrainingConfig(epochs=0.1).resolved(3, 4.0).steps == 1
    assert TrainingConfig(schedule="noam").resolved(3, 4.0).learning_rate == 1.0
    assert TrainingConfig(learning_rate=0).resolved(3, 4.0).learning_rate == 0
    long = TrainingConfig(steps=10**6).resolved(3, 4.0)
    assert (long.warmup, long.validate_every) == (4000, 1000)
    short = TrainingConfig(steps=5, warmup=9, validate_every=7).resolved(3, 4.0)
    assert (short.warmup, short.validate_every) == (5, 7)


def test_a_later_end_by_steps_or_by_epochs_whichever_the_first_was_by():
    def extended(config, **own):
        longer = config.resolved(500, 4.0).extended(**own).resolved(500, 4.0)
        return longer.steps, longer.epochs

    by_steps = TrainingConfig(steps=200)
    assert extended(by_steps) == (200, 0.4)
    assert extended(by_steps, epochs=2.0) == (1000, 2.0)
    assert extended(by_steps, epochs=4.0) == (
        2000,
        4.0,
    )  # of which a run has 4 where nothing is said
    for config in (TrainingConfig(), TrainingConfig(epochs=4.0), TrainingConfig(2.0, 2000)):
        assert extended(config) == (2000, 4.0)
        assert extended(config, epochs=4.0) == (2000, 4.0)
        assert extended(config, steps=2500) == (2500, 5.0)
        assert extended(config, steps=2500, epochs=9.0) == (2500, 5.0)
    assert extended(TrainingConfig(epochs=0.01), steps=6) == (6, 0.012)
    with pytest.raises(ChangedFieldError, match="`steps` = 199 is not how this run began: it has"):
        extended(by_steps, steps=199)


def test_one_table_needs_one_vocabulary():
    separate = DataConfig(separate_vocabularies=True)
    for tie in (None, "none", "target"):
        check_tie(ModelConfig(tie_word_embeddings=tie), separate)
    check_tie(ModelConfig(tie_word_embeddings="all"), DataConfig())
    with pytest.raises(
        ValueError, match="`tie_word_embeddings` all needs one vocabulary for both languages"
    ):
        check_tie(ModelConfig(tie_word_embeddings="all"), separate)
