import type { TSchema } from 'typebox';
import type { DescribedSchema } from './openapi-document.ts';

const COMPONENT_NAME = /^[A-Z][A-Za-z0-9]*$/;
/** They belong to the place where a schema is used, and may stand beside its `$ref`. */
const ANNOTATIONS_OF_A_USE = ['default', 'description'] as const;
/** Keywords whose values are data, and those whose values are schemas by name. */
const DATA_KEYWORDS = new Set(['default', 'examples', 'enum', 'const', 'required']);
const MAP_KEYWORDS = new Set(['properties', 'patternProperties']);

/**
 * Collects the named schemas of a description. A schema is named by its `title`; wherever it stands, a `$ref` to its
 * component takes its place.
 */
export class OpenApiComponents {
  readonly #schemas = new Map<string, DescribedSchema>();
  readonly #fallbackNames = new Map<TSchema, string>();

  /** The schema as the description shows it. Throws when two different schemas have the same title. */
  describe(schema: TSchema): DescribedSchema {
    return this.#copy(schema) as DescribedSchema;
  }

  /**
   * The same for a request body or a reply, which is a component of its own. Without a title it gets the
   * `fallbackName` of the first place where it stands.
   */
  describeNamed(schema: TSchema, fallbackName: string): DescribedSchema {
    if (Reflect.has(schema, 'title')) return this.describe(schema);
    const title = this.#fallbackNames.get(schema) ?? fallbackName;
    this.#fallbackNames.set(schema, title);
    return this.describe({ ...schema, title });
  }

  /** By name, in alphabetical order. */
  schemas(): Readonly<Record<string, DescribedSchema>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((entry) => this.#copy(entry));
    if (typeof value !== 'object' || value === null) return value;
    const copied = withStatedType(
      Object.fromEntries(
        Object.entries(value).map(([keyword, entry]) => [keyword, this.#keyword(keyword, entry)]),
      ),
    );
    const { title } = copied;
    return typeof title === 'string' && COMPONENT_NAME.test(title) ? this.#referTo(title, copied) : copied;
  }

  #keyword(keyword: string, value: unknown): unknown {
    if (DATA_KEYWORDS.has(keyword)) return value;
    if (!MAP_KEYWORDS.has(keyword)) return this.#copy(value);
    return Object.fromEntries(
      Object.entries(value as object).map(([name, schema]) => [name, this.#copy(schema)]),
    );
  }

  #referTo(name: string, schema: DescribedSchema): DescribedSchema {
    const ofThisUse = Object.fromEntries(
      ANNOTATIONS_OF_A_USE.flatMap((key) => (key in schema ? [[key, schema[key]]] : [])),
    );
    const { default: _default, title: _title, ...content } = schema;
    const known = this.#schemas.get(name);
    if (!known) this.#schemas.set(name, content);
    else if (withoutDescription(known) !== withoutDescription(content)) {
      throw new Error(`two different schemas have the title ${name}`);
    }
    const { description } = this.#schemas.get(name) ?? {};
    if (ofThisUse['description'] === description) delete ofThisUse['description'];
    return { $ref: `#/components/schemas/${name}`, ...ofThisUse };
  }
}

function withoutDescription({ description: _, ...rest }: DescribedSchema): string {
  return JSON.stringify(rest);
}

/** Readers and code generators expect a type beside an `enum` or `const`, and one word for a file. */
function withStatedType(schema: Record<string, unknown>): DescribedSchema {
  if ('contentMediaType' in schema) return { type: 'string', format: 'binary', ...schema };
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : [];
  const isText = values.length > 0 && values.every((value) => typeof value === 'string');
  return isText && !('type' in schema) ? { type: 'string', ...schema } : schema;
}
