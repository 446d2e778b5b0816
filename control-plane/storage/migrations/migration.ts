/**
 * A change of stored documents from one schema version to the next. It is applied once to each document, by whichever
 * process comes first; processes of the version before may still be running.
 */
export interface Migration {
  readonly collection: string;
  readonly toVersion: number;
  /** The fields to be written, read from a document of the version before. */
  readonly fieldsFor: (doc: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}
