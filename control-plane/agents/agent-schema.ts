import { type Static, Type } from 'typebox';
import { AgentConfigRead } from '../../shared/agent-config.ts';
import { AgentConfigPatch } from './agent-config-patch.ts';

const Name = Type.String({ minLength: 1, maxLength: 120 });
const Description = Type.String({ maxLength: 2000 });
const OverrideNames = Type.Enum(['first_message', 'system_prompt', 'voice_id', 'language']);
const Timestamp = Type.String({ format: 'date-time' });
const NullableText = Type.Union([Type.Null(), Type.String()]);

export const AgentPath = Type.Object({ agent_id: Type.String() });
export const VersionPath = Type.Object({ agent_id: Type.String(), version_number: Type.String() });

export const Agent = Type.Object(
  {
    agent_id: Type.String(),
    workspace_id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    status: Type.Enum(['active', 'archived']),
    publication_state: Type.Enum(['draft', 'live'], {
      description: '`draft` until a version is published; drafts take no sessions.',
    }),
    public_enabled: Type.Boolean({ description: 'Sessions may be started without a key.' }),
    allowed_origins: Type.Array(Type.String(), {
      description: 'Pages that may start sessions without a key.',
    }),
    overrides_allowed: Type.Array(OverrideNames, { description: 'What session creation may replace.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Agent' },
);
export type Agent = Static<typeof Agent>;

export const CreateAgentBody = Type.Object(
  {
    name: Name,
    description: Type.Optional(Description),
    config: Type.Optional(AgentConfigPatch),
  },
  {
    title: 'CreateAgentBody',
    additionalProperties: false,
    examples: [
      {
        name: 'Front desk',
        description: 'Answers questions about opening hours and takes messages.',
        config: {
          prompt: { system_prompt: 'You answer the phone of a small hotel. Be brief and friendly.' },
          voice: { speaking_language: 'en' },
        },
      },
    ],
  },
);
export type CreateAgentBody = Static<typeof CreateAgentBody>;

export const UpdateAgentBody = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    status: Type.Optional(
      Type.Enum(['active', 'archived'], { description: 'Archived agents are left out of the list.' }),
    ),
    public_enabled: Type.Optional(
      Type.Boolean({ description: 'Lets sessions start without a key, from `allowed_origins`.' }),
    ),
    allowed_origins: Type.Optional(
      Type.Array(Type.String({ maxLength: 300, pattern: '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\s@]+/?$' }), {
        maxItems: 20,
        description: 'Each `scheme://host[:port]`; a slash at the end is tolerated.',
      }),
    ),
    overrides_allowed: Type.Optional(
      Type.Array(OverrideNames, {
        maxItems: 8,
        description: 'What session creation may replace; `[]` refuses every override.',
      }),
    ),
  },
  {
    title: 'UpdateAgentBody',
    additionalProperties: false,
    examples: [
      {
        public_enabled: true,
        allowed_origins: ['https://www.example.com'],
        overrides_allowed: ['first_message'],
      },
    ],
  },
);
export type UpdateAgentBody = Static<typeof UpdateAgentBody>;

export const ConfigDocument = Type.Object(
  {
    agent_id: Type.String(),
    config_hash: Type.String({ description: '`sha256:` and the hex digest of the configuration.' }),
    ...AgentConfigRead.properties,
    updated_at: Timestamp,
  },
  { title: 'AgentConfigDocument' },
);
export type ConfigDocument = Static<typeof ConfigDocument>;

export const PublishBody = Type.Object(
  {
    version_title: Type.Optional(Type.Union([Type.Null(), Type.String({ maxLength: 120 })])),
    version_description: Type.Optional(Type.Union([Type.Null(), Type.String({ maxLength: 2000 })])),
  },
  {
    title: 'PublishBody',
    additionalProperties: false,
    examples: [{ version_title: 'Summer opening hours' }],
  },
);
export type PublishBody = Static<typeof PublishBody>;

export const VersionSummary = Type.Object(
  {
    version_number: Type.Integer(),
    version_title: NullableText,
    version_description: NullableText,
    config_hash: Type.String(),
    published_at: Timestamp,
  },
  { title: 'AgentVersionSummary' },
);
export type VersionSummary = Static<typeof VersionSummary>;

export const VersionDetail = Type.Object(
  { ...VersionSummary.properties, config: ConfigDocument },
  { title: 'AgentVersion' },
);
export type VersionDetail = Static<typeof VersionDetail>;
