/** Who may import whom. Each rule is a sentence; test/tooling plants a violation of each and expects it to be found. */
const only = (library, folder, comment) => ({
  name: `${library.replace(/[^a-z]/gi, '')}-only-in-its-folder`,
  comment,
  severity: 'error',
  from: { path: '^(control-plane|media-worker|shared|deploy)/', pathNot: folder },
  to: { path: `node_modules/${library}/` },
});

const RESOURCES = 'agents|sessions|tools|knowledge|voices|phone|wallet|webhooks|analysis|workspaces|speech';
const STAGES = 'codec|vad|turn|asr|llm|tools|tts|playout|recording|transport|ingress|coordination';

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that need each other are one module.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A module that nobody imports and that starts nothing is dead.',
      severity: 'error',
      from: { orphan: true, pathNot: ['\\.d\\.ts$', '\\.test\\.ts$', '^dist/', '^control-plane/console/'] },
      to: {},
    },
    {
      name: 'shared-knows-no-process',
      comment: 'shared/ is the bottom.',
      severity: 'error',
      from: { path: '^shared/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(control-plane|media-worker|deploy|test)/' },
    },
    {
      name: 'processes-meet-over-the-wire',
      comment: 'Control plane and media worker never import each other.',
      severity: 'error',
      from: { path: '^(control-plane|media-worker)/' },
      to: { path: '^(control-plane|media-worker)/', pathNot: '^$1/' },
    },
    {
      name: 'resources-do-not-know-their-neighbours',
      comment: 'What a resource needs of another is a function handed over in app.ts.',
      severity: 'error',
      from: { path: `^control-plane/(${RESOURCES})/` },
      to: { path: `^control-plane/(${RESOURCES})/`, pathNot: '^control-plane/$1/' },
    },
    {
      name: 'stages-do-not-know-their-neighbours',
      comment:
        'Stages meet in session/ and worker.ts only; a port may be used for its types, and codec/ is plain conversion.',
      severity: 'error',
      from: { path: `^media-worker/(${STAGES})/`, pathNot: '\\.test\\.ts$' },
      to: {
        path: `^media-worker/(${STAGES}|session)/`,
        pathNot: [
          '^media-worker/$1/',
          '^media-worker/transport/',
          '^media-worker/codec/',
          '^media-worker/[a-z]+/[a-z]+-engine\\.ts$',
        ],
      },
    },
    {
      name: 'engines-only-from-the-root',
      comment: 'Which engine runs is decided in worker.ts (and the engine files beside it).',
      severity: 'error',
      from: {
        path: '^(media-worker|shared|deploy|control-plane)/',
        pathNot: [
          '^media-worker/worker\\.ts$',
          '^media-worker/worker-engines\\.ts$',
          '/engines/',
          '\\.test\\.ts$',
          '^media-worker/tts/speech-router\\.ts$',
          '^deploy/local\\.ts$',
        ],
      },
      to: { path: '^media-worker/[a-z]+/engines/' },
    },
    {
      name: 'nothing-imports-tests',
      comment: 'Product code stands without test code.',
      severity: 'error',
      from: { path: '^(control-plane|media-worker|shared|deploy)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^test/' },
    },
    only('mongodb', '^control-plane/storage/', 'The driver stays behind the storage port.'),
    only('mingo', '^control-plane/storage/', 'The query engine stays behind the storage port.'),
    only('koa', '^control-plane/http/', 'Handlers are plain functions.'),
    only('@koa/router', '^control-plane/http/', 'Handlers are plain functions.'),
    only('ioredis', '^control-plane/coordination/', 'Redis stays behind the coordination port.'),
    only('uWebSockets\\.js', '^media-worker/ingress/', 'The socket server stays behind its port.'),
    only('ws', '^media-worker/ingress/', 'The socket server stays behind its port.'),
    only('@roamhq/wrtc', '^media-worker/transport/', 'WebRTC stays behind the transport port.'),
    only('@livekit/protocol', '^media-worker/ingress/', 'The signalling messages stay in ingress.'),
    only(
      '@grpc/grpc-js',
      '^(control-plane/dispatch|media-worker/coordination|shared/generated)/',
      'gRPC stays in the link.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^dist/', 'shared/generated'] },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
