const token =
  /<(\/?)([a-zA-Z][\w-]*)((?:\s+[\w:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)\s*(\/?)>|([^<]+)/gy;

/** Throws unless the text is one XML element, with every tag closed in its order and every special character escaped. */
export function requireWellFormed(xml: string): void {
  const open: string[] = [];
  let roots = 0;
  for (const { close, name, selfClosing, text } of tokens(xml.trim())) {
    if (text !== undefined) {
      if (/&(?!(?:amp|lt|gt|quot);)/.test(text))
        throw new Error(`A bare ampersand in ${JSON.stringify(text)}`);
      if (open.length === 0) throw new Error(`Text outside of the root: ${JSON.stringify(text)}`);
    } else if (close) {
      if (open.pop() !== name) throw new Error(`</${name}> closes another element`);
    } else {
      if (open.length === 0 && ++roots > 1) throw new Error(`A second root: <${name}>`);
      if (!selfClosing) open.push(name);
    }
  }
  if (open.length > 0 || roots !== 1) throw new Error(`Not closed: ${open.join(", ")}`);
}

/** What the `text` elements say. */
export function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, content = ""]) =>
    content
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&"),
  );
}

function* tokens(xml: string) {
  token.lastIndex = 0;
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex;
    const match = token.exec(xml);
    if (!match) throw new Error(`Not XML from here: ${JSON.stringify(xml.slice(at, at + 80))}`);
    const [, slash, name = "", , end, text] = match;
    yield { close: slash === "/", name, selfClosing: end === "/", text };
  }
}
