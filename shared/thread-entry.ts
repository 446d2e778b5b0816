/**
 * Where to start a worker thread or a Node side process whose source lies beside the caller: the built `.js`
 * file in `dist/`, or the `.ts` file through tsx when the source runs directly (tests, `npm run dev`).
 */
export function threadEntry(callerUrl: string, name: string): { url: URL; execArgv: string[] } {
  const fromSource = callerUrl.endsWith('.ts');
  return {
    url: new URL(`./${name}.${fromSource ? 'ts' : 'js'}`, callerUrl),
    execArgv: fromSource ? ['--import', registerTsx()] : [],
  };
}

/** A module that registers tsx. `--import tsx` itself does nothing in a worker thread of Node 20. */
function registerTsx(): string {
  const source = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register();`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
