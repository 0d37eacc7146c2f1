// Virtual models of the `llm` section. A target is the name of a model, found by the patterns of the models.
import type { AIProvider, Authorization, ModelTarget, OfferedModel } from '#api/ir/types.gen.ts'
import { MODEL_ROUTES } from '#api/llm/formats.ts'
import { nameMatcher } from '#api/llm/model-names.ts'
import { pathTo } from '../field-path.ts'
import type { LlmSection, VirtualModelFields } from '../schema/llm.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import type { ModelBuilder } from './models.ts'

interface Parts {
  readonly builder: ModelBuilder
  readonly context: BuildContext
  /** Key of the backend of a model. */
  readonly keyOf: (name: string, index: number) => string
}

interface Found {
  readonly index: number
  readonly name: string
}

/** Adds the backends of those that fail over. */
export function virtualModels(section: LlmSection, path: string, parts: Parts): OfferedModel[] {
  const names = new Set<string>()
  return (section.virtualModels ?? []).map(({ name, routing }, index) => {
    const at = pathTo(path, 'virtualModels', index)
    if (names.has(name)) parts.context.error(pathTo(at, 'name'), `virtual model ${name} already exists`)
    names.add(name)
    const find = (target: string, place: string): Found | undefined => findModel(section, target, place, parts)
    return { name, ...choiceOf(name, routing, { at: pathTo(at, 'routing'), find, parts }) }
  })
}

function findModel({ models }: LlmSection, target: string, path: string, { context }: Parts): Found | undefined {
  const index = models.findIndex(({ name }) => nameMatcher(name)(target))
  const name = models[index]?.name
  if (name !== undefined) return { index, name }
  context.error(path, `no model matches ${target}; declare it in llm.models`)
  return undefined
}

interface Place {
  readonly at: string
  readonly find: (target: string, place: string) => Found | undefined
  readonly parts: Parts
}

function choiceOf(
  name: string,
  { weighted, conditional, failover }: VirtualModelFields['routing'],
  { at, find, parts }: Place,
): Omit<OfferedModel, 'name'> {
  const targetOf = (model: string, kind: string, index: number): ModelTarget => {
    const found = find(model, pathTo(at, kind, 'targets', index, 'model'))
    if (found === undefined) return {}
    const authorization = parts.builder.rulesOf(found.index)
    return { backend: parts.keyOf(found.name, found.index), model, ...(authorization.length > 0 && { authorization }) }
  }
  if (weighted !== undefined) {
    const targets = weighted.targets.map(({ model, weight = 1 }, index) => ({
      ...targetOf(model, 'weighted', index),
      weight,
    }))
    return { weighted: targets }
  }
  if (failover !== undefined) return failoverOf(name, failover.targets, { at, find, parts })
  const targets = (conditional?.targets ?? []).map(({ model, when }, index) => ({
    ...targetOf(model, 'conditional', index),
    ...(when !== undefined && { when }),
  }))
  return { conditional: targets }
}

type FailoverTargets = NonNullable<VirtualModelFields['routing']['failover']>['targets']

/** One backend with a group for each priority. Clients without access to one of its models are denied. */
function failoverOf(name: string, targets: FailoverTargets, { at, find, parts }: Place): Omit<OfferedModel, 'name'> {
  const { builder, context } = parts
  const groups = new Map<number, AIProvider[]>()
  const rules: Authorization[] = []
  for (const [index, { model, priority }] of targets.entries()) {
    const place = pathTo(at, 'failover', 'targets', index, 'model')
    const found = find(model, place)
    const provider = found && builder.provider(found.index, `${model}:${index}`, model)
    if (found === undefined || provider === undefined) continue
    rules.push(...builder.rulesOf(found.index))
    const group = groups.get(priority)
    if (group === undefined) groups.set(priority, [provider])
    else group.push(provider)
  }
  const key = `llm:virtual:${name}`
  const ordered = [...groups].sort(([a], [b]) => a - b).map(([, providers]) => ({ providers }))
  context.config.backends.push({
    key,
    name: { namespace: DEFAULT_NAMESPACE, name: key },
    ai: { groups: ordered },
    inlinePolicies: { ai: { routes: { ...MODEL_ROUTES } } },
  })
  return { backend: key, ...(rules.length > 0 && { authorization: rules }) }
}
