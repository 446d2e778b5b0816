import { pino } from 'pino';

/**
 * Structured log. The message is a fixed string, values are fields; personal data only under `pii`, which is
 * dropped unless the settings ask for it. error = someone must act now; warn = we recovered; info = one line
 * per lifecycle change; debug = the rest.
 */
export interface Logger {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  child(fields: object): Logger;
}

/** JSON lines on standard error, so that standard output stays free for what a command prints. */
export function createLogger(options: { name: string; level: string; withPii: boolean }): Logger {
  return pino(
    {
      name: options.name,
      level: options.level,
      redact: options.withPii ? [] : { paths: ['pii', '*.pii'], remove: true },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}

const nothing = () => {};
export const silentLogger: Logger = {
  error: nothing,
  warn: nothing,
  info: nothing,
  debug: nothing,
  child: () => silentLogger,
};
