import { GATED } from "./activations.js";
import { InputError, shorten } from "./input_error.js";
import { Matrix } from "./matrix.js";

// The parameters of a Transformer: their names and shapes, and the tree that the layers take them from.

/** The shape of every parameter by its dotted name, as in both rooms: a matrix is (d_in, d_out). */
export function parameterShapes(config) {
  const { d_model, d_ff, d_k, d_v, n_heads, n_kv_heads, bias, feed_forward_bias } = config;
  const shapes = {};
  const add = (name, d_in, d_out, hasBias) => {
    shapes[`${name}.weight`] = [d_in, d_out];
    if (hasBias) shapes[`${name}.bias`] = [d_out];
  };
  const addNorm = (name) => {
    shapes[`${name}.weight`] = [d_model];
    if (config.norm === "layer" && config.norm_bias) shapes[`${name}.bias`] = [d_model];
  };
  const addAttention = (name) => {
    add(`${name}.w_q`, d_model, n_heads * d_k, bias);
    add(`${name}.w_k`, d_model, n_kv_heads * d_k, bias);
    add(`${name}.w_v`, d_model, n_kv_heads * d_v, bias);
    add(`${name}.w_o`, n_heads * d_v, d_model, bias);
    addNorm(`${name}_add_norm.norm`);
  };
  const addStack = (stack, n_layers, attentions) => {
    for (let n = 0; n < n_layers; n++) {
      const layer = `${stack}.layers.${n}`;
      for (const attention of attentions) addAttention(`${layer}.${attention}`);
      add(`${layer}.feed_forward.w_1`, d_model, d_ff, feed_forward_bias);
      if (GATED.includes(config.activation))
        add(`${layer}.feed_forward.w_gate`, d_model, d_ff, feed_forward_bias);
      add(`${layer}.feed_forward.w_2`, d_ff, d_model, feed_forward_bias);
      addNorm(`${layer}.feed_forward_add_norm.norm`);
    }
    if (config.final_norm) addNorm(`${stack}.norm`);
  };
  add("source_embedding", config.vocab_size, d_model);
  if (config.tie_word_embeddings !== "all") add("target_embedding", config.target_vocab_size, d_model);
  if (config.positions === "learned")
    for (const side of ["source", "target"]) add(`${side}_inputs.positions`, config.max_len, d_model);
  addStack("encoder", config.n_layers, ["self_attention"]);
  addStack("decoder", config.n_decoder_layers, ["self_attention", "cross_attention"]);
  if (config.tie_word_embeddings === "none")
    add("output", d_model, config.target_vocab_size, config.output_bias);
  else if (config.output_bias) shapes["output.bias"] = [config.target_vocab_size];
  return shapes;
}

/** How many numbers a model of this configuration holds. */
export function parameterCount(config) {
  const sizes = Object.values(parameterShapes(config)).map((shape) => shape.reduce((a, b) => a * b));
  return sizes.reduce((a, b) => a + b);
}

/**
 * The tree of parameters: tensors["encoder.norm.weight"] stands at tree.encoder.norm.weight.
 * @param {Map<string, {shape: number[], data: Float32Array}>} tensors as `readSafetensors` returns them
 * @param {object} config as `checkConfig` returns it
 * @throws {InputError} one is missing, unknown, of another shape, or holds what is no number
 */
export function parameterTree(tensors, config) {
  const layers = config.n_layers + config.n_decoder_layers;
  if (layers > tensors.size) refuse(`it has ${tensors.size} of them, and ${layers} layers`);
  const shapes = parameterShapes(config);
  const unknown = [...tensors.keys()].find((name) => !Object.hasOwn(shapes, name));
  if (unknown !== undefined) refuse(`it holds ${shorten(unknown)}, which a model of these sizes does not have`);
  const tree = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const tensor = tensors.get(name);
    if (!tensor) refuse(`${name} is missing`);
    if (String(tensor.shape) !== String(shape)) refuse(`${name} must be (${shape}), got (${tensor.shape})`);
    if (!tensor.data.every(Number.isFinite)) refuse(`${name} holds NaN or infinity`);
    const path = name.split(".");
    const last = path.pop();
    const branch = path.reduce((node, key) => (node[key] ??= {}), tree);
    branch[last] = shape.length === 2 ? new Matrix(...shape, tensor.data) : tensor.data;
  }
  return tree;
}

function refuse(reason) {
  throw new InputError(`The parameters are of another model: ${reason}.`, "file");
}
