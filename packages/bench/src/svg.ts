/** A piece of SVG, safe to put into another. */
export interface Markup {
  readonly svg: string;
}

type Content = Markup | string | readonly (Markup | string)[];

/** An element; text in it and the values of its attributes are escaped. Numbers are rounded to a tenth of a pixel. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: Content = [],
): Markup {
  const written = Object.entries(attributes).map(
    ([key, value]) =>
      ` ${key}="${escapeText(typeof value === "number" ? String(Math.round(value * 10) / 10) : value)}"`,
  );
  const parts = typeof content === "string" || "svg" in content ? [content] : content;
  const inner = parts.map((part) => (typeof part === "string" ? escapeText(part) : part.svg)).join("");
  return {
    svg: inner === "" ? `<${name}${written.join("")}/>` : `<${name}${written.join("")}>${inner}</${name}>`,
  };
}

function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
