// All GwModels: which listeners offer which, the route to them there, and the status of each model.
import type { DeliveredBackend } from '../delivered-backend.ts'
import type { GatewayCaps } from '../caps.ts'
import type { HTTPRouteParentRef } from '#api/gateway/httproute.gen.ts'
import type { OfferedModel, Route } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import type { RouteListener } from '../gateway/listener.ts'
import type { Caught } from '../defects.ts'
import type { Memory } from '../memory.ts'
import { keyOf, namespaceOf } from '../object-ref.ts'
import { createdAt, sortedBy } from '../order.ts'
import { type Offer, type Precedence, precedenceOf } from './precedence.ts'
import type { ReferenceScope } from '../service/reference.ts'
import { referencesOf } from '../references.ts'
import { attachmentCap } from '../route/attachment-cap.ts'
import type { ParentLookup } from '../gateway/parent-lookup.ts'
import { attachedParents, listenerSuffix, type ParentResult } from '../route/routes.ts'
import { areFatal, modelFaults } from './faults.ts'
import { MODEL_MATCHES } from '#api/llm/formats.ts'
import { modelBackend, type ModelScopes, type ServedModel, serveModel, unusableBackend } from './model.ts'
import { modelIdentity, offeredName } from './names.ts'
import { translateVirtual } from './virtual-model.ts'

export interface AttachedModel {
  readonly model: GwModel
  readonly problems: readonly Problem[]
  /** One for each distinct parentRef that names a parent of ours. */
  readonly parents: readonly ParentResult[]
  /** Listeners that took the model, each once. */
  readonly listeners: readonly RouteListener[]
  /** Those where an older model of another namespace has its name. */
  readonly overridden?: ReadonlyMap<RouteListener, GwModel>
}

export interface ModelTable {
  readonly models: readonly AttachedModel[]
  /** By Gateway key: the route of each listener that offers models. */
  readonly routes: ReadonlyMap<string, readonly Route[]>
  /** By key: those of models, and one for each listener that offers some. */
  readonly backends: ReadonlyMap<string, DeliveredBackend>
}

interface ModelTranslation {
  readonly offered: OfferedModel
  readonly isVirtual: boolean
  readonly backend: DeliveredBackend | undefined
  readonly problems: readonly Problem[]
}

/** `scopes`: lookups that are answered by the snapshot of the moment. */
export function modelTables(
  memory: Memory,
  scopes: ModelScopes,
  { parents, caps }: { readonly parents: ParentLookup; readonly caps: GatewayCaps },
): () => ModelTable {
  const capped = attachmentCap<AttachedModel>({ objectOf: ({ model }) => model, rulesOf: () => 1, caps })
  const servedModels = memory.table<GwModel, ServedModel>()
  const translations = memory.table<GwModel, ModelTranslation>()
  const attachments = memory.table<GwModel, AttachedModel>()
  const listenerRoutes = memory.table<RouteListener, Route>()
  const listenerBackends = memory.table<RouteListener, DeliveredBackend>()
  const served = (model: GwModel): ServedModel =>
    servedModels(model, [], () => serveModel(model, { name: model.metadata.name, asked: undefined }, scopes))
  const translate = (model: GwModel): ModelTranslation =>
    scopes.policies.defects.guarded(
      { object: model, path: 'spec', what: 'the model' },
      () => translateModel(model, { ...scopes, served }),
      (caught) => formlessModel(model, caught),
    )
  return () => {
    const all = sortedBy(allModels(scopes.references), keyOf)
    const translated = all.map((model) => translations(model, [], () => translate(model)))
    const attached = all.map((model, index) =>
      attachments(model, [translated[index]], () => attach(model, translated[index]?.problems ?? [], parents)),
    )
    const models = capped(attached)
    const routeOf = (listener: RouteListener): Route => listenerRoutes(listener, [], () => listenerRoute(listener))
    const backendOf = (listener: RouteListener, offers: readonly ListenerOffer[]): DeliveredBackend =>
      listenerBackends(
        listener,
        offers.map(({ translation }) => translation),
        () => listenerBackend(listener, offers),
      )
    const byListener = offersOf(models, translated)
    return {
      models: withLosses(models, byListener),
      ...rendered({ models, translated, byListener }, { routeOf, backendOf }),
    }
  }
}

function allModels({ snapshot }: ReferenceScope): readonly GwModel[] {
  return snapshot.GwModel.all
}

function translateModel(
  model: GwModel,
  scopes: ModelScopes & { readonly served: (model: GwModel) => ServedModel },
): ModelTranslation {
  const identity = offeredIdentity(model)
  if (model.spec.virtualModel !== undefined && model.spec.provider === undefined) {
    const { faults } = modelFaults(model)
    // It keeps its name: otherwise another model would answer its requests.
    if (areFatal(faults)) return brokenModel(model, faults, identity)
    const { choice, backend, problems } = translateVirtual(model, scopes)
    return { offered: { ...identity, ...choice }, isVirtual: true, backend, problems: [...faults, ...problems] }
  }
  const served = scopes.served(model)
  const { authorization, problems } = served
  const offered = {
    ...identity,
    backend: modelIdentity(model).key,
    ...(authorization.length > 0 && { authorization: [...authorization] }),
  }
  return { offered, isVirtual: false, backend: modelBackend(model, served), problems }
}

function offeredIdentity(model: GwModel): Pick<OfferedModel, 'name' | 'createdAt' | 'internal'> {
  const created = createdAt(model)
  return {
    name: offeredName(model),
    ...(created !== undefined && { createdAt: created }),
    ...(model.spec.visibility === 'Internal' && { internal: true }),
  }
}

function formlessModel(model: GwModel, caught: Caught): ModelTranslation {
  const problems: readonly Problem[] = [{ path: 'spec', ...caught, severity: 'error' }]
  return brokenModel(model, problems, { name: model.metadata.name, internal: true })
}

function brokenModel(
  model: GwModel,
  problems: readonly Problem[],
  offered: ReturnType<typeof offeredIdentity>,
): ModelTranslation {
  const identity = modelIdentity(model)
  const rendered = [unusableBackend(identity, problems)]
  return {
    offered: { ...offered, backend: identity.key },
    isVirtual: false,
    backend: { rendered, secrets: [], references: referencesOf([]) },
    problems,
  }
}

function attach(model: GwModel, problems: readonly Problem[], ours: ParentLookup): AttachedModel {
  // A parentRef of a GwModel has the fields of one of a route.
  const refs: readonly HTTPRouteParentRef[] = model.spec.parentRefs
  const parents = attachedParents(model, refs, ours)
  const listeners = new Set<RouteListener>()
  for (const { acceptance } of parents) {
    if ('listeners' in acceptance) for (const listener of acceptance.listeners) listeners.add(listener)
  }
  return { model, problems, parents, listeners: [...listeners] }
}

interface ListenerOffer extends Offer {
  readonly translation: ModelTranslation
}

type OffersByListener = ReadonlyMap<RouteListener, Precedence<ListenerOffer>>

function offersOf(models: readonly AttachedModel[], translated: readonly ModelTranslation[]): OffersByListener {
  const byListener = new Map<RouteListener, ListenerOffer[]>()
  for (const [index, { model, listeners }] of models.entries()) {
    const translation = translated[index]
    if (translation === undefined) continue
    const { offered, isVirtual } = translation
    const offer = { model, name: offered.name, isVirtual, translation }
    for (const listener of listeners) {
      const known = byListener.get(listener)
      if (known === undefined) byListener.set(listener, [offer])
      else known.push(offer)
    }
  }
  return new Map([...byListener].map(([listener, offers]) => [listener, precedenceOf(offers)]))
}

function withLosses(models: readonly AttachedModel[], byListener: OffersByListener): readonly AttachedModel[] {
  const losses = new Map<GwModel, Map<RouteListener, GwModel>>()
  for (const [listener, { overridden }] of byListener) {
    for (const [{ model }, winner] of overridden) {
      const known = losses.get(model) ?? new Map<RouteListener, GwModel>()
      losses.set(model, known.set(listener, winner.model))
    }
  }
  if (losses.size === 0) return models
  return models.map((one) => {
    const overridden = losses.get(one.model)
    if (overridden === undefined) return one
    return { ...one, overridden, listeners: one.listeners.filter((listener) => !overridden.has(listener)) }
  })
}

interface ModelParts {
  readonly models: readonly AttachedModel[]
  readonly translated: readonly ModelTranslation[]
  readonly byListener: OffersByListener
}

/** The same objects while a listener offers the same models. */
interface OfListeners {
  readonly routeOf: (listener: RouteListener) => Route
  readonly backendOf: (listener: RouteListener, offers: readonly ListenerOffer[]) => DeliveredBackend
}

function rendered(
  { models, translated, byListener }: ModelParts,
  { routeOf, backendOf }: OfListeners,
): Pick<ModelTable, 'routes' | 'backends'> {
  const routes = new Map<string, Route[]>()
  const backends = new Map<string, DeliveredBackend>()
  for (const [index, { model }] of models.entries()) {
    const backend = translated[index]?.backend
    if (backend !== undefined) backends.set(modelIdentity(model).key, backend)
  }
  for (const [listener, { offered }] of byListener) {
    if (listener.notProgrammed !== undefined) continue
    backends.set(listenerBackendKey(listener), backendOf(listener, offered))
    const gateway = keyOf(listener.gateway)
    const route = routeOf(listener)
    const known = routes.get(gateway)
    if (known === undefined) routes.set(gateway, [route])
    else known.push(route)
  }
  return { routes, backends }
}

function listenerBackend(listener: RouteListener, offers: readonly ListenerOffer[]): DeliveredBackend {
  const { gateway } = listener
  const key = listenerBackendKey(listener)
  const ordered = offers.map(({ translation }) => translation.offered)
  const targets = ordered.flatMap(({ backend, weighted = [], conditional = [] }) => [
    ...(backend === undefined ? [] : [backend]),
    ...[...weighted, ...conditional].flatMap((target) => target.backend ?? []),
  ])
  return {
    rendered: [{ key, name: { namespace: namespaceOf(gateway), name: key }, models: { models: ordered } }],
    secrets: [],
    references: { services: [], backends: [...new Set(targets)] },
  }
}

function listenerBackendKey({ key }: RouteListener): string {
  return `models:${key}`
}

function listenerRoute(listener: RouteListener): Route {
  const { gateway } = listener
  const name = `${gateway.metadata.name}:models`
  return {
    key: `${namespaceOf(gateway)}/${name}.00.${listenerSuffix(listener)}`,
    listenerKey: listener.key,
    name: { kind: 'GwModel', namespace: namespaceOf(gateway), name },
    hostnames: [],
    matches: [...MODEL_MATCHES],
    backends: [{ weight: 1, ref: { backend: listenerBackendKey(listener) } }],
  }
}
