/** Characters of text in a chunk, its headings excluded: a few spoken answers' worth. */
const CHUNK_CHARS = 800;
const HEADINGS_CHARS = 200;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$/;
const FENCE = /^ {0,3}(```|~~~)/;

interface Section {
  /** The headings above the text, outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
}

/**
 * Cuts Markdown or plain text into passages that can be found and read alone: along headings, then paragraphs, then
 * lines, sentences and words, at most 800 characters each, with the headings they stand under on top. The same
 * text always gives the same chunks; text that isn't blank gives at least one.
 */
export function chunkText(text: string): string[] {
  const chunks = sectionsOf(text).flatMap(({ headings, text: body }) => {
    const above = headings.join('\n').slice(0, HEADINGS_CHARS);
    return pack(body, ['\n\n', '\n', '. ', ' ']).map((piece) => (above ? `${above}\n${piece}` : piece));
  });
  // Headings alone are a text as well.
  return chunks.length > 0 ? chunks : pack(text.trim(), ['\n', ' ']);
}

function sectionsOf(text: string): Section[] {
  const sections: Section[] = [];
  const headings: { level: number; line: string }[] = [];
  let lines: string[] = [];
  let isFenced = false;
  const close = () => {
    const body = lines
      .join('\n')
      .replace(/\n[ \t]*(?=\n)/g, '\n')
      .trim();
    if (body !== '') sections.push({ headings: headings.map(({ line }) => line), text: body });
    lines = [];
  };
  for (const line of text.split(/\r\n?|\n/)) {
    if (FENCE.test(line)) isFenced = !isFenced;
    const heading = isFenced ? null : HEADING.exec(line);
    if (!heading) {
      lines.push(line);
      continue;
    }
    close();
    const level = heading[1]?.length ?? 1;
    while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
    headings.push({ level, line: line.trim() });
  }
  close();
  return sections;
}

/** Pieces of at most 800 characters, as long as the separators allow; the first separator counts most. */
function pack(text: string, separators: readonly string[]): string[] {
  if (text.length <= CHUNK_CHARS) return text.trim() === '' ? [] : [text.trim()];
  const [separator, ...finer] = separators;
  if (separator === undefined) return cut(text);
  const pieces: string[] = [];
  let current = '';
  const parts = text.split(separator);
  parts.forEach((part, index) => {
    const whole = index < parts.length - 1 ? part + separator : part;
    if (current.length + whole.trimEnd().length <= CHUNK_CHARS) {
      current += whole;
      return;
    }
    pieces.push(...pack(current, []));
    current = '';
    if (whole.trimEnd().length > CHUNK_CHARS) pieces.push(...pack(whole, finer));
    else current = whole;
  });
  pieces.push(...pack(current, []));
  return pieces;
}

/** Text without any place to cut; characters beyond the basic plane stay whole. */
function cut(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + CHUNK_CHARS, text.length);
    if (to < text.length && /[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to--;
    pieces.push(text.slice(from, to).trim());
    from = to;
  }
  return pieces.filter((piece) => piece !== '');
}
