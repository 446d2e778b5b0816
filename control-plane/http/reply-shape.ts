import type { TSchema } from 'typebox';
import type { Compile } from './validators.ts';

/** The keywords of a schema that decide which properties are declared. */
interface Shape {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: boolean | TSchema;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly oneOf?: readonly TSchema[];
  readonly allOf?: readonly TSchema[];
}

/** A copy of a value with the properties that a schema declares and no others. */
export type Shaper = (value: unknown) => unknown;

type Entries = Readonly<Record<string, unknown>>;

const asItIs: Shaper = (value) => value;

/**
 * What a handler returns by accident never leaves the process: the copy of a reply has the properties its schema declares
 * and no others. A schema without properties (`Unknown`, `Record`) lets everything of its own through.
 */
export function createShaper(schema: TSchema, compile: Compile): Shaper {
  const shape = schema as Shape;
  const ofObjects = shaperOfObjects(shape, compile);
  return (value) => (typeof value === 'object' && value !== null ? ofObjects(value) : value);
}

function shaperOfObjects(shape: Shape, compile: Compile): (value: object) => unknown {
  const union = shape.anyOf ?? shape.oneOf;
  if (union) return shaperOfUnion(union, compile);
  if (shape.allOf) {
    const parts = shape.allOf.map((part) => createShaper(part, compile));
    return (value) => Object.assign({}, ...parts.map((part) => part(value)));
  }
  const ofItems = shape.items ? createShaper(shape.items, compile) : null;
  const ofEntries = shaperOfEntries(shape, compile);
  return (value) => {
    if (Array.isArray(value)) return ofItems ? value.map(ofItems) : value;
    return ofEntries(value as Entries);
  };
}

/** Takes the first branch that the value is valid in; drops a value that fits none. */
function shaperOfUnion(union: readonly TSchema[], compile: Compile): Shaper {
  const branches = union.map((branch) => ({
    validate: compile(branch),
    shape: createShaper(branch, compile),
  }));
  return (value) => branches.find(({ validate }) => validate(value))?.shape(value);
}

function shaperOfEntries(shape: Shape, compile: Compile): (value: Entries) => unknown {
  const { properties = {}, patternProperties = {}, additionalProperties } = shape;
  if (!shape.properties && !shape.patternProperties) return asItIs;
  const declared = new Map(
    Object.entries(properties).map(([key, schema]) => [key, createShaper(schema, compile)]),
  );
  const patterns = Object.entries(patternProperties).map(
    ([pattern, schema]) => [new RegExp(pattern, 'u'), createShaper(schema, compile)] as const,
  );
  const ofOthers =
    additionalProperties === true
      ? asItIs
      : additionalProperties
        ? createShaper(additionalProperties, compile)
        : null;
  const shaperOf = (key: string) =>
    declared.get(key) ?? patterns.find(([pattern]) => pattern.test(key))?.[1] ?? ofOthers;

  return (value) => {
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const shaper = shaperOf(key);
      if (shaper) define(copy, key, shaper(value[key]));
    }
    return copy;
  };
}

/** A plain assignment to `__proto__` would set the prototype instead. */
function define(copy: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') copy[key] = value;
  else Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
}
