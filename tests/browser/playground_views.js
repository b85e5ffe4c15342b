// What a test asks of a page that holds a translator and the playground's views.
(translator, asked, labels) => {
  const { controlsOf, DEFAULTS, panelsOf, translateInSteps, withControl } = qkvViews;
  const plain = (panel) => ({ ...panel, arrays: panel.arrays?.map((values) => [...values]) });

  return asked.map(({ text, settings, moves = [] }) => {
    const ids = translator.encode(text);
    let now = { ...DEFAULTS, ...settings };
    let outcomes = [...translateInSteps(qkvEngine, translator, ids, now)].filter(Boolean);
    for (const [name, value] of moves) {
      now = withControl(now, name, value, outcomes.at(-1), translator);
      outcomes = [...translateInSteps(qkvEngine, translator, ids, now)].filter(Boolean);
    }
    const last = outcomes.at(-1);
    const panels = panelsOf(last, now, translator, labels).map(plain);
    return {
      settings: now,
      controls: controlsOf(now, last, translator, labels),
      panels: Object.fromEntries(panels.map((panel) => [panel.name, panel])),
      names: panels.map(({ name }) => name),
      source: last.source,
      tokens: last.steps.map(({ token }) => token),
      texts: last.steps.map(({ text }) => text),
      probabilities: last.steps.map(({ probabilities }) => [...probabilities]),
      translation: last.translation,
      untouched: last.untouched,
      grown: outcomes.map(({ steps, done }) => [steps.length, done]),
      hypotheses: last.hypotheses,
    };
  });
};
