function render({ model, el }) {
  el.append(model.get("title"));
}

export default { render };
