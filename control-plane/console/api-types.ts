/** What the console reads of the API's replies; a test proves that the API's own schemas fit. */

export interface PageOf {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface Agent {
  readonly agent_id: string;
  readonly name: string;
  readonly description: string;
  readonly publication_state: 'draft' | 'live';
  readonly updated_at: string;
}

export interface AgentList extends PageOf {
  readonly agents: readonly Agent[];
}

export type FirstMessageMode = 'off' | 'fixed' | 'prompt';
export type Eagerness = 'relaxed' | 'balanced' | 'eager';

export interface AgentConfig {
  readonly config_hash: string;
  readonly prompt: {
    readonly system_prompt: string;
    readonly first_message_mode: FirstMessageMode;
    readonly first_message: string;
    readonly first_message_prompt: string;
  };
  readonly voice: { readonly voice_id: string; readonly speaking_language: string };
  readonly conversation: { readonly interruptible: boolean; readonly eagerness: Eagerness };
}

export interface VersionSummary {
  readonly version_number: number;
  readonly config_hash: string;
  readonly published_at: string;
}

export interface VersionList extends PageOf {
  readonly versions: readonly VersionSummary[];
}

export interface SessionToken {
  readonly session_id: string;
  readonly rtc_url: string;
  readonly token: string;
  readonly max_duration_seconds: number;
}

export type SessionStatus = 'pending' | 'active' | 'completed' | 'failed' | 'unknown';

export interface SessionSummary {
  readonly session_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly status: SessionStatus;
  readonly end_reason: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly duration_seconds: number | null;
}

export interface SessionList extends PageOf {
  readonly sessions: readonly SessionSummary[];
}

export interface MessageItem {
  readonly type: 'message';
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly created_at: string | null;
  readonly interrupted?: boolean;
}

export interface ToolCallItem {
  readonly type: 'tool_call';
  readonly call_id: string;
  readonly tool_name: string;
  readonly input: string;
  readonly created_at: string | null;
}

export interface ToolResultItem {
  readonly type: 'tool_result';
  readonly call_id: string;
  readonly tool_name: string;
  readonly status: 'completed' | 'failed';
  readonly output: string | null;
  readonly error: string | null;
  readonly created_at: string | null;
}

export type TimelineItem = MessageItem | ToolCallItem | ToolResultItem;

export interface SessionDetail extends SessionSummary {
  readonly items: readonly TimelineItem[];
}

export interface FieldIssue {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** What the fields of an agent can be; made by the server from its own lists. */
export interface Choices {
  readonly languages: readonly string[];
  readonly voices: readonly { readonly id: string; readonly name: string; readonly language: string }[];
  readonly system_prompt_max: number;
}
