/** One revision of a knowledge source, as an agent uses it. Its text never changes. */
export interface KnowledgePin {
  readonly sourceId: string;
  readonly revisionId: string;
  /** Counts the files of the source, from 1. */
  readonly revisionNumber: number;
}
