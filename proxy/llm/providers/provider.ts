// The properties of a model provider: one file each, in the table of providers/table.ts. Properties of the format
// alone (usage, errors, streams) are in formats. Docs: docs/contributing/adding-a-provider.md.
import type { PromptCaching } from '#api/ir/types.gen.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import type { HeaderList } from '../../message/headers.ts'
import type { CredentialKind } from '../credential-kind.ts'
import type { SentFormat } from '../formats/format.ts'
import type { JsonObject } from '../json.ts'

export interface Provider<Settings> {
  /** Model to request instead of the one in the request. */
  model(settings: Settings): string | undefined
  /** The function that it returns gets the model of each request, and returns one of few sets. */
  formats(settings: Settings): (model: string) => ReadonlySet<SentFormatName>
  /** `prefix`: what the user sets instead of the provider's own beginning. */
  paths(settings: Settings, prefix: string | undefined): Paths
  /** Requests at another host keep the path of the client, unless they are translated or the user sets a path. */
  readonly keepsClientPath: boolean
  /** Region of AWS for signatures where `auth` names none; absent: the provider is not signed for AWS. */
  signingRegion?(settings: Settings): string
  /**
   * Adds to a request what only this provider has, and removes what it rejects. Changes the first level of `body`, by
   * replacement. @throws {Untranslatable}
   */
  finish?(body: JsonObject, settings: Settings, facts: RequestFacts): void
  /** Parameters that the provider sets: those of the client are not sent. Absent: none. */
  readonly ownQuery?: ReadonlySet<string>
  /** Sets and removes headers that the provider requires. `sent`: format of the request; undefined: it is unread. */
  prepareHeaders(headers: HeaderList, credential: CredentialKind, sent: SentFormat | undefined): void
}

/** The request of the client, for `finish`. */
export interface RequestFacts {
  readonly model: string
  readonly headers: HeaderList
  readonly sent: SentFormatName
  /** Of the policy that applies. */
  readonly promptCaching?: PromptCaching | undefined
}

/** The path of a request for a model. */
export type Paths = (format: SentFormat, model: string, isStreaming: boolean) => string

const BASE_PATH = '/v1'

/** Paths of OpenAI, Anthropic and all who follow them; `/v1` is that of the format where the model is in the path. */
export function usualPaths(prefix: string | undefined): Paths {
  const base = prefix?.replace(/\/+$/, '')
  return ({ path, modelPath }, model, isStreaming) =>
    modelPath === undefined
      ? (base ?? BASE_PATH) + path
      : (base ?? modelPath.base) + modelPath.pathOf(model, isStreaming)
}
