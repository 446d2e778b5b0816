export interface BenchOptions {
  /** Fewer rounds, for CI: the whole bench in at most 4 minutes. */
  readonly isShort: boolean;
  readonly say: (line: string) => void;
}

/** What a part found out. */
export interface PartResult {
  /** Lines to be read. */
  readonly lines: readonly string[];
  /** Numbers to be kept and compared, their unit in the name. */
  readonly figures: Readonly<Record<string, number>>;
}

/** One part of the bench. It leaves nothing running, whether it succeeds or throws. */
export interface BenchPart {
  readonly name: string;
  readonly title: string;
  run(options: BenchOptions): Promise<PartResult>;
}
