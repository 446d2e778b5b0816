export interface Persona {
  readonly name: string | null;
  /** With its article: "the receptionist of Blue Door Dental". */
  readonly role: string | null;
}

/** Who the prompt says the agent is. */
export function readPersona(instructions: string): Persona {
  const text = instructions.replace(/\s+/g, ' ');
  const name =
    /\b[Yy]ou(?:'re|’re| are) (?:called |named )?([A-Z][\p{L}'-]+(?: [A-Z][\p{L}'-]+)?)(?=[,.;]| and\b| from\b| of\b| at\b)/u.exec(
      text,
    )?.[1] ??
    /\b[Yy]our name is ([A-Z][\p{L}'-]+)/u.exec(text)?.[1] ??
    /\b(?:named|called) ([A-Z][\p{L}'-]+)/u.exec(text)?.[1] ??
    null;
  const role =
    /\b[Yy]ou(?:'re|’re| are) (?:[A-Z][^,.;]{1,40}, )?((?:an?|the) [^,.;:]{3,80}?)(?= who\b| that\b| named\b| called\b|[,.;:]|$)/.exec(
      text,
    )?.[1] ?? null;
  return { name, role };
}

/** "Ava, the receptionist of Blue Door Dental", or null when the prompt names nobody. */
export function describePersona({ name, role }: Persona): string | null {
  if (name && role) return `${name}, ${role}`;
  return name ?? role;
}
