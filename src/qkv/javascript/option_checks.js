// Checks of the options of decoding: an Error that names the call, what was expected and what came.

const FORMULAS = ["power", "gnmt"];

function check(call, name, value, isRight, expected) {
  if (isRight) return;
  const got = typeof value === "string" ? `'${value}'` : String(value);
  throw new Error(`${call}: ${name} must be ${expected}, got ${got}`);
}

const checkCount = (call, name, value) =>
  check(call, name, value, Number.isInteger(value) && value >= 1, "a whole number of at least 1");

/** @throws {Error} temperature is no finite number above 0, topK no count, or topP is not in (0, 1] */
export function checkSampling(call, { temperature = 1, topK, topP }) {
  const isTemperature = Number.isFinite(temperature) && temperature > 0;
  check(call, "temperature", temperature, isTemperature, "a finite number above 0");
  if (topK !== undefined) checkCount(call, "topK", topK);
  const isShare = Number.isFinite(topP) && topP > 0 && topP <= 1;
  if (topP !== undefined) check(call, "topP", topP, isShare, "a number in (0, 1]");
}

/** @throws {Error} there are not as many numbers as may be drawn by, or one is not in [0, 1) */
export function checkUniforms(call, uniforms, maxNewTokens) {
  const count = uniforms?.length;
  check(call, "uniforms", count, count === maxNewTokens, `${maxNewTokens} numbers, one for each token`);
  const wrong = [...uniforms].find((one) => !(Number.isFinite(one) && one >= 0 && one < 1));
  check(call, "uniforms", wrong, wrong === undefined, "numbers in [0, 1)");
}

/** @throws {Error} beamSize is no count, lengthPenalty no number, or a choice is unknown */
export function checkBeamSearch(call, { beamSize, lengthPenalty, lengthFormula, earlyStopping }) {
  checkCount(call, "beamSize", beamSize);
  check(call, "lengthPenalty", lengthPenalty, Number.isFinite(lengthPenalty), "a finite number");
  check(call, "lengthFormula", lengthFormula, FORMULAS.includes(lengthFormula), "'power' or 'gnmt'");
  const isRule = [true, false, "never"].includes(earlyStopping);
  check(call, "earlyStopping", earlyStopping, isRule, "true, false or 'never'");
}
