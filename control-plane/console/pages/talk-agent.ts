/** What the talk page knows of the agent it calls. */
export interface TalkAgent {
  readonly agentId: string;
  readonly name: string;
  /** Of the newest published version; null when there is none. */
  readonly versionNumber: number | null;
  readonly isDraftDifferent: boolean;
}
