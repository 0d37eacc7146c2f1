// The targets of a virtual model. A missing target keeps its place, so that its share of the requests fails and does
// not go to other targets.
import type { DeliveredBackend } from '../delivered-backend.ts'
import type { AIProvider, Authorization, ModelTarget, OfferedModel } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import type { FailoverModelTarget, GwModel, ModelReference } from '#api/v1alpha1/gwmodel.gen.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'
import { sortedBy } from '../order.ts'
import { checkExpression } from '../policy/expression.ts'
import { emptyReport } from '../policy/field.ts'
import { fieldScope } from '../policy/scope.ts'
import { type ModelScopes, providersBackend, type ServedModel, serveModel, unusableBackend } from './model.ts'
import { isPattern, modelIdentity, offeredName } from './names.ts'

export interface VirtualTranslation {
  readonly choice: Pick<OfferedModel, 'backend' | 'weighted' | 'conditional' | 'authorization'>
  /** Of failover. */
  readonly backend: DeliveredBackend | undefined
  readonly problems: readonly Problem[]
}

export interface VirtualScopes extends ModelScopes {
  /** Of models that a provider serves. */
  readonly served: (model: GwModel) => ServedModel
}

interface TargetFields {
  readonly modelRef: ModelReference
  readonly model?: string
}

interface FoundTarget {
  readonly model: GwModel
  /** The model in requests to it. */
  readonly asked: string
}

export function translateVirtual(model: GwModel, scopes: VirtualScopes): VirtualTranslation {
  const { weighted, conditional, failover } = model.spec.virtualModel ?? {}
  const problems: Problem[] = []
  const find = (target: TargetFields, path: string): FoundTarget | undefined => {
    const found = findTarget(model, target, scopes)
    if ('message' in found) problems.push({ path, reason: 'Invalid', message: found.message, severity: 'error' })
    return 'message' in found ? undefined : found
  }
  if (failover !== undefined) return { ...failoverOf(model, failover.targets, { find, scopes }), problems }
  const targetOf = (target: TargetFields, path: string): ModelTarget => {
    const found = find(target, path)
    return found === undefined ? {} : renderTarget(found, scopes)
  }
  if (weighted !== undefined) {
    const targets = weighted.targets.map((target, index) => ({
      ...targetOf(target, `spec.virtualModel.weighted.targets[${index}]`),
      weight: target.weight ?? 1,
    }))
    return { choice: { weighted: targets }, backend: undefined, problems }
  }
  const targets = (conditional?.targets ?? []).map((target, index) => {
    const path = `spec.virtualModel.conditional.targets[${index}]`
    const { when } = target
    if (when !== undefined) problems.push(...expressionProblems(model, { when, path: `${path}.when` }, scopes))
    return { ...targetOf(target, path), ...(when !== undefined && { when }) }
  })
  return { choice: { conditional: targets }, backend: undefined, problems }
}

/** An invalid condition is kept: it is never true. */
function expressionProblems(
  model: GwModel,
  { when, path }: { readonly when: string; readonly path: string },
  { policies }: VirtualScopes,
): readonly Problem[] {
  const report = emptyReport()
  const scope = fieldScope(model, new Set(['GwModel']), policies)
  checkExpression(when, path, { path, field: 'virtualModel.conditional', scope, report, moment: 'model' })
  return report.problems
}

function findTarget(
  model: GwModel,
  { modelRef, model: asked }: TargetFields,
  { references }: VirtualScopes,
): FoundTarget | { readonly message: string } {
  const namespace = namespaceOf(model)
  const target = references.snapshot.GwModel.get(namespace, modelRef.name)
  const name = nameKey(namespace, modelRef.name)
  if (target === undefined) return { message: `model target ${name} not found` }
  if (target.spec.provider === undefined) {
    return { message: `model target ${name} is a virtual model; name a model that has a provider` }
  }
  const offered = offeredName(target)
  if (asked !== undefined) return { model: target, asked }
  return isPattern(offered)
    ? { message: `model target ${name} requires model when the referenced model is a wildcard` }
    : { model: target, asked: offered }
}

function renderTarget({ model, asked }: FoundTarget, { served }: VirtualScopes): ModelTarget {
  const { authorization } = served(model)
  return {
    backend: modelIdentity(model).key,
    model: asked,
    ...(authorization.length > 0 && { authorization: [...authorization] }),
  }
}

interface FailoverContext {
  readonly find: (target: TargetFields, path: string) => FoundTarget | undefined
  readonly scopes: VirtualScopes
}

/** One backend with a group for each priority. Clients without access to one of its models are denied. */
function failoverOf(
  model: GwModel,
  targets: readonly FailoverModelTarget[],
  { find, scopes }: FailoverContext,
): Omit<VirtualTranslation, 'problems'> {
  const identity = modelIdentity(model)
  const groups = new Map<number, ServedModel[]>()
  for (const [index, target] of targets.entries()) {
    const found = find(target, `spec.virtualModel.failover.targets[${index}]`)
    if (found === undefined) continue
    const { modelRef, priority } = target
    const name = target.model === undefined ? modelRef.name : `${modelRef.name}/${target.model}`
    const served = serveModel(found.model, { name, asked: found.asked }, scopes)
    const group = groups.get(priority)
    if (group === undefined) groups.set(priority, [served])
    else group.push(served)
  }
  const served = [...groups.values()].flat()
  const rules: Authorization[] = served.flatMap(({ authorization }) => authorization)
  // No target to choose: every request is answered with an error.
  if (served.length === 0) return { choice: { weighted: [] }, backend: undefined }
  const choice = { backend: identity.key, ...(rules.length > 0 && { authorization: rules }) }
  const ordered = [...groups].sort(([a], [b]) => a - b).map(([, group]) => providersOf(group))
  return {
    choice,
    backend: {
      // Nothing can be called: the reason is that of the targets.
      rendered: served.every(({ isBroken }) => isBroken)
        ? [
            unusableBackend(
              identity,
              served.flatMap(({ problems }) => problems),
            ),
          ]
        : [providersBackend(identity, ordered)],
      secrets: served.flatMap(({ secrets }) => secrets),
      references: {
        services: served.flatMap(({ references }) => references.services),
        backends: served.flatMap(({ references }) => references.backends),
      },
    },
  }
}

function providersOf(group: readonly ServedModel[]): AIProvider[] {
  return sortedBy(
    group.map(({ provider }) => provider),
    ({ name }) => name,
  )
}
