import { InputError } from "./input_error.js";
import { openFiles } from "./model_file.js";
import { openPretrained } from "./pretrained.js";
import { samplingDistribution } from "./sampling.js";
import { EOS, SOS } from "./tokenizer.js";
import { Translator } from "./translator.js";

// What a page takes from the engine, as globalThis.qkvEngine.
export default { EOS, InputError, SOS, Translator, openFiles, openPretrained, samplingDistribution };
