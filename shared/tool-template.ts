/** A template may fill to this many characters; a few placeholders with long values could make it endless. */
const FILLED_MAX_CHARS = 1_000_000;
/** Braces can't stand in a name. The bound keeps the search linear: names have up to 64 characters. */
const PLACEHOLDER = /\{\{([^{}]{1,80})\}\}/g;
const JSON_TYPE = /^application\/([\w.+-]+\+)?json\s*(;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i;
/** `.` and `..` in every notation that URL parsers take for them. */
const DOT_SEGMENT = /^(\.|%2e){1,2}$/i;

/** The value of a placeholder: null when there is none, undefined to leave the placeholder as written. */
export type LookUp = (name: string) => unknown;

/** Values that can't be put into a template. The message may be shown to the model and to people. */
export class UnusableArguments extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnusableArguments';
  }
}

/**
 * Fills a URL: each value is percent-encoded, so that it stays within the part of the URL it stands in. Throws
 * `UnusableArguments` for a value that makes its path segment `.` or `..`.
 */
export function fillUrlTemplate(template: string, lookUp: LookUp): string {
  const filled = fill(template, lookUp, (value) => encodeURIComponent(wellFormed(textOf(value))));
  const harmless = pathSegments(
    fill(template, (name) => (lookUp(name) === undefined ? undefined : 'x'), textOf),
  );
  const isMoved = pathSegments(filled).some((part, at) => DOT_SEGMENT.test(part) && part !== harmless[at]);
  if (isMoved) throw new UnusableArguments('An argument would change the path of the URL');
  return filled;
}

/**
 * Fills a request body. JSON: a placeholder inside a string takes the value's text, escaped; anywhere else it becomes
 * a JSON value of its own. Form data: percent-encoded. Any other type: the text as it is.
 */
export function fillBodyTemplate(template: string, contentType: string, lookUp: LookUp): string {
  if (FORM_TYPE.test(contentType)) {
    return fill(template, lookUp, (value) => encodeURIComponent(wellFormed(textOf(value))));
  }
  if (!isJsonType(contentType)) return fill(template, lookUp, textOf);
  return fill(template, lookUp, (value, isInString) =>
    isInString ? JSON.stringify(textOf(value)).slice(1, -1) : JSON.stringify(value),
  );
}

export function isJsonType(contentType: string): boolean {
  return JSON_TYPE.test(contentType);
}

function fill(
  template: string,
  lookUp: LookUp,
  encode: (value: unknown, isInString: boolean) => string,
): string {
  const pieces: string[] = [];
  const strings = new JsonStrings();
  let size = 0;
  let doneTo = 0;
  const add = (piece: string) => {
    size += piece.length;
    if (size > FILLED_MAX_CHARS) throw new UnusableArguments('The arguments make the request too large');
    pieces.push(piece);
  };
  for (const match of template.matchAll(PLACEHOLDER)) {
    const literal = template.slice(doneTo, match.index);
    const value = lookUp((match[1] ?? '').trim());
    strings.read(literal);
    add(literal);
    add(value === undefined ? match[0] : encode(value, strings.isInside));
    doneTo = match.index + match[0].length;
  }
  add(template.slice(doneTo));
  return pieces.join('');
}

/** Follows a JSON text and knows whether it is inside a string. */
class JsonStrings {
  isInside = false;
  #isEscaped = false;

  read(text: string): void {
    for (const char of text) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (char === '\\') this.#isEscaped = this.isInside;
      else if (char === '"') this.isInside = !this.isInside;
    }
  }
}

function textOf(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Lone surrogates have no UTF-8 form. */
function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDFFF]/gu, '\uFFFD');
}

/** URL parsers take a backslash for a slash. */
function pathSegments(url: string): string[] {
  return (url.split(/[?#]/, 1)[0] ?? '').split(/[/\\]/);
}
