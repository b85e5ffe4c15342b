// What the page asks Python about itself, without a trace in what the reader runs.
const AFTER_ERROR = 5; // times; what comes while Python calls off what waited behind an error is called off too

async function ask(kernel, expressions = {}, left = AFTER_ERROR) {
  const content = { code: "", silent: true, store_history: false, user_expressions: expressions };
  const reply = (await kernel.requestExecute(content).done).content;
  return reply.status === "aborted" && left ? ask(kernel, expressions, left - 1) : reply;
}

// The verdict on what was chosen in an exercise, [state, text, hint]; null if Python knows none. The keys of
// its parts are those of qkv/exercises/choices.py.
export async function verdictOn(kernel, name, keys) {
  const given = [name, keys].map((each) => JSON.stringify(each)).join(", ");
  const expression = `(lambda said, JSON: JSON([said.state, said.text, said.hint]))(
    __import__("qkv.exercises.checks", fromlist=["checks"]).check_choice(${given}),
    __import__("IPython.display", fromlist=["display"]).JSON)`;
  const { user_expressions: { verdict } } = await ask(kernel, { verdict: expression });
  return verdict.data?.["application/json"] ?? null;
}

// Whether anything has run in this Python since it started.
export const hasRun = async (kernel) => (await ask(kernel)).execution_count > 0;

// Of cells with `original` and `text`, the last whose original binds the name that a NameError misses and
// whose text does not; null for none. Only Python can tell: a name is bound by an assignment, an import, a
// def and more. A cell that it cannot read stops by itself.
export async function changedBinding(kernel, message, cells) {
  const name = /^name '(\w+)' is not defined/u.exec(message)?.[1];
  if (!name) return null;
  const texts = JSON.stringify(cells.map(({ original, text }) => [original, text]));
  const expression = `(lambda name, texts, symtable, transform: [
    name in names(old) and name not in names(new)
    for names in [lambda code: {
      each.get_name() for each in symtable(transform(code), "cell", "exec").get_symbols()
      if each.is_assigned() or each.is_imported()
    }]
    for old, new in texts
  ])(${JSON.stringify(name)}, __import__("json").loads(${JSON.stringify(texts)}),
     __import__("symtable").symtable, get_ipython().transform_cell)`;
  const { user_expressions: { found } } = await ask(kernel, { found: expression });
  const lost = found.status === "ok" ? found.data["text/plain"].match(/True|False/g) : [];
  return cells[lost.lastIndexOf("True")] ?? null;
}
