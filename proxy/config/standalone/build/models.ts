// The models of the `llm` section: each is a provider with its settings, which override those of the provider that it
// references field by field.
import type { AIProvider, Authorization, BackendPayload } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { LlmSection, ModelFields, ModelSettings, ProviderParams } from '../schema/llm.ts'
import type { PromptGuard } from '../schema/prompt-guard.ts'
import { renderProvider } from './ai.ts'
import { aiEdits } from './backend-policies.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { renderModifier } from './headers.ts'
import { type ChosenProvider, targetOf } from './model-provider.ts'
import { renderPromptGuard } from './prompt-guard.ts'
import { renderHealth } from './resilience.ts'
import { renderRules } from './rules.ts'
import { renderAuth, renderTls, renderTunnel } from './simple-policies.ts'

/** Values of a model or of the provider it references. */
interface Merged extends ChosenProvider {
  readonly settings: ModelSettings
  /** The place in the file, for messages. */
  readonly pathOf: (field: keyof ProviderParams | keyof ModelSettings) => string
}

export class ModelBuilder {
  readonly #section: LlmSection
  readonly #path: string
  readonly #context: BuildContext
  readonly #providers = new Map<string, number>()

  constructor(section: LlmSection, path: string, context: BuildContext) {
    this.#section = section
    this.#path = path
    this.#context = context
    for (const [index, { name }] of (section.providers ?? []).entries()) {
      const at = pathTo(path, 'providers', index, 'name')
      if (this.#providers.has(name)) context.error(at, `provider ${name} already exists`)
      this.#providers.set(name, index)
    }
  }

  /** `model`: to request if the settings name none; undefined: that of the request. */
  provider(index: number, name: string, model: string | undefined): AIProvider | undefined {
    const fields = this.#section.models[index]
    const merged = fields && this.#merged(fields, index)
    if (fields === undefined || merged === undefined) return undefined
    const target = targetOf(merged, model, this.#context)
    if (target === undefined) return undefined
    const rendered = renderProvider({ name, ...target.fields }, pathTo(this.#path, 'models', index), this.#context)
    const policies = this.#policies(fields, merged, index)
    const inlinePolicies = { ...(target.isTls && { tls: {} }), ...policies }
    const { service } = target
    return { ...rendered, ...defined({ service }), ...(Object.keys(inlinePolicies).length > 0 && { inlinePolicies }) }
  }

  /** A rule of each kind is checked by itself: those that allow become one. */
  rulesOf(index: number): Authorization[] {
    const at = pathTo(this.#path, 'models', index, 'authorization')
    const rules = renderRules(this.#section.models[index]?.authorization, at, this.#context)
    const allowed = rules.filter(({ action }) => action === 'Allow').flatMap(({ matchExpressions }) => matchExpressions)
    const others = rules.filter(({ action }) => action !== 'Allow')
    if (allowed.length === 0) return others
    const any = allowed.length === 1 ? allowed : [allowed.map((source) => `(${source})`).join(' || ')]
    return [...others, { action: 'Allow', matchExpressions: any }]
  }

  #merged(fields: ModelFields, index: number): Merged | undefined {
    const { provider, params: ownParams = {} } = fields
    const own = defined({ ...ownParams })
    const path = pathTo(this.#path, 'models', index)
    const pathIn = (field: string): string => (field in own ? pathTo(path, 'params', field) : pathTo(path, field))
    const settings: ModelSettings = settingsOf(fields)
    if (typeof provider === 'string' || !('reference' in provider)) {
      return { provider, params: own, settings, pathOf: pathIn }
    }
    const at = this.#providers.get(provider.reference)
    const shared = at === undefined ? undefined : this.#section.providers?.[at]
    const place = pathTo(path, 'provider', 'reference')
    if (at === undefined || shared === undefined) {
      this.#context.error(place, `there is no provider ${provider.reference}; declare it in llm.providers`)
      return undefined
    }
    if (typeof shared.provider !== 'string' && 'reference' in shared.provider) {
      this.#context.error(place, `provider ${provider.reference} references another provider; name that one`)
      return undefined
    }
    const sharedPath = pathTo(this.#path, 'providers', at)
    const { params = {}, defaults = {} } = shared
    const isOwn = (field: string): boolean => field in own || Object.hasOwn(settings, field)
    return {
      provider: shared.provider,
      params: { ...defined({ ...params }), ...own },
      settings: { ...defined({ ...defaults }), ...settings, ...mergedCaching(defaults, settings) },
      pathOf: (field) =>
        isOwn(field) ? pathIn(field) : pathTo(sharedPath, field in params ? 'params' : 'defaults', field),
    }
  }

  #policies({ guardrails }: ModelFields, merged: Merged, index: number): BackendPayload {
    const { settings, pathOf } = merged
    const context = this.#context
    const { requestHeaders, responseHeaders, health, backendTunnel } = settings
    const credential = this.#credential(merged)
    const promptGuard = this.#guards(guardrails, index)
    const edits = aiEdits({ ...settings, transformations: settings.transformation })
    const promptCaching = ifSet(settings.promptCaching, (value) => defined(value))
    const ai = defined({ ...edits, promptCaching, promptGuard })
    return defined({
      deny: credential?.deny,
      ai: Object.keys(ai).length > 0 ? ai : undefined,
      auth: credential?.auth,
      tls: this.#tls(merged),
      health: ifSet(health, renderHealth),
      tunnel: ifSet(backendTunnel, (value) => renderTunnel(value, pathOf('backendTunnel'), context)),
      requestHeaderModifier: ifSet(requestHeaders, renderModifier),
      responseHeaderModifier: ifSet(responseHeaders, renderModifier),
    })
  }

  #credential({ params: { apiKey }, settings: { auth }, pathOf }: Merged): ReturnType<typeof renderAuth> | undefined {
    const at = pathOf('apiKey')
    if (apiKey !== undefined && auth !== undefined) this.#context.error(at, 'must not be set together with auth')
    if (apiKey !== undefined) return { auth: { key: this.#context.secret(at, apiKey) } }
    return ifSet(auth, (value) => renderAuth(value, pathOf('auth'), this.#context))
  }

  #tls({ settings: { backendTLS, tls }, pathOf }: Merged): BackendPayload['tls'] | undefined {
    if (backendTLS === undefined) return ifSet(tls, (value) => renderTls(value, pathOf('tls'), this.#context))
    if (tls !== undefined) this.#context.error(pathOf('tls'), 'is the same field as backendTLS: remove one')
    return renderTls(backendTLS, pathOf('backendTLS'), this.#context)
  }

  /** Those of the section come first. */
  #guards(own: PromptGuard | undefined, index: number) {
    const shared = this.#section.policies?.guardrails
    const places = [
      { guard: shared, path: pathTo(this.#path, 'policies', 'guardrails') },
      { guard: own, path: pathTo(this.#path, 'models', index, 'guardrails') },
    ]
    const set = places.flatMap(({ guard, path }) => (guard === undefined ? [] : [{ guard, path }]))
    if (set.length === 0) return undefined
    const rendered = set.map(({ guard, path }) => renderPromptGuard(guard, path, this.#context))
    const request = rendered.flatMap((guard) => guard.request ?? [])
    const response = rendered.flatMap((guard) => guard.response ?? [])
    return defined({
      streaming: rendered.some(({ streaming }) => streaming === true) ? true : undefined,
      request: request.length === 0 ? undefined : request,
      response: response.length === 0 ? undefined : response,
    })
  }
}

function settingsOf(fields: ModelFields): ModelSettings {
  const { defaults, overrides, transformation, requestHeaders, responseHeaders } = fields
  const { backendTLS, tls, auth, health, backendTunnel, promptCaching } = fields
  const body = { defaults, overrides, transformation, requestHeaders, responseHeaders }
  return defined({ ...body, backendTLS, tls, auth, health, backendTunnel, promptCaching })
}

/** Field by field, unlike the other settings. */
function mergedCaching(shared: ModelSettings, own: ModelSettings): Pick<ModelSettings, 'promptCaching'> {
  if (shared.promptCaching === undefined || own.promptCaching === undefined) return {}
  return { promptCaching: { ...defined(shared.promptCaching), ...defined(own.promptCaching) } }
}
