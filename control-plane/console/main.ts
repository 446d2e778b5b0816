import { createApi } from './api.ts';
import { createSend } from './api-request.ts';
import { createCredentials, keyOfLink } from './credentials.ts';
import { messageOf } from './loading.ts';
import { openPage } from './open-page.ts';
import type { Page, PageContext } from './page.ts';
import { signInPage } from './pages/sign-in.ts';
import type { Route } from './route.ts';
import { startRouter } from './router.ts';
import { createShell } from './shell.ts';

const root = document.getElementById('app');
if (!root) throw new Error('no #app in the page');

const credentials = createCredentials(sessionStorage);
const shell = createShell(root, () => signOut(null));
let page: Page | null = null;
let route: Route | null = null;
let context: PageContext | null = null;

const linkKey = keyOfLink(location.hash);
if (linkKey !== null) {
  credentials.keep(linkKey);
  // The key must not stay in the address bar nor in the history.
  history.replaceState(null, '', location.pathname);
}

startRouter({
  open: (next) => {
    route = next;
    void open();
  },
  leaveQuestion: () => page?.leaveQuestion?.() ?? null,
});

async function open(): Promise<void> {
  const wanted = route;
  const key = credentials.key();
  if (!wanted) return;
  if (key === null) return showSignIn(null);
  try {
    context ??= await createContext(key);
  } catch (error) {
    return showSignIn(messageOf(error));
  }
  // Another page may have been asked for meanwhile.
  if (route !== wanted || credentials.key() !== key) return;
  const { page: next, section } = openPage(wanted, context);
  show(next, section);
}

async function createContext(key: string): Promise<PageContext> {
  const api = createApi(createSend(key, (message) => credentials.key() === key && signOut(message)));
  await api.listAgents({ search: '', publicationState: '', cursor: null });
  return { api, choices: await api.choices(), notify: shell.notify };
}

function showSignIn(message: string | null): void {
  const signIn = async (key: string) => {
    context = await createContext(key);
    credentials.keep(key);
    await open();
  };
  show(signInPage(signIn, message), null);
}

function signOut(message: string | null): void {
  const question = message === null ? (page?.leaveQuestion?.() ?? null) : null;
  if (question !== null && !window.confirm(question)) return;
  credentials.forget();
  context = null;
  showSignIn(message);
}

function show(next: Page, section: string | null): void {
  page?.dispose?.();
  page = next;
  shell.show(next, section);
}
