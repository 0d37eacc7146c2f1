// Volumes of the pod and where the container sees them.
import {
  BOOTSTRAP_MOUNT_PATH,
  DELIVERY_MOUNT_PATH,
  DELIVERY_VOLUME,
  deliveryVolume,
  TMP_MOUNT_PATH,
} from '#api/delivery/pod-contract.ts'
import type { ModelCatalogSource } from '#api/v1alpha1/gwparameters.gen.ts'
import { CATALOG_KEY } from '../parameters/model-catalog.ts'
import { volumeName } from './volume-name.ts'

export interface Mount {
  readonly name: string
  readonly mountPath: string
  readonly readOnly?: boolean
}

export interface Volumes {
  readonly volumes: readonly { readonly name: string; readonly [source: string]: unknown }[]
  readonly mounts: readonly Mount[]
  /** Files of the catalogues, in the order of their precedence. */
  readonly catalogPaths: readonly string[]
}

export interface VolumesInput {
  readonly gatewayName: string
  /** Of the ConfigMap of the start-up settings. */
  readonly configMap: string
  readonly isInMesh: boolean
  readonly catalogs: readonly ModelCatalogSource[]
}

const CONFIG_VOLUME = 'config-volume'
const CATALOG_PATH = '/etc/gw/model-catalog'
const MESH_TOKEN_SECONDS = 43_200

export function volumesOf({ gatewayName, configMap, isInMesh, catalogs }: VolumesInput): Volumes {
  const parts = [
    basics(gatewayName, configMap),
    ...(isInMesh ? [meshVolumes()] : []),
    ...catalogsByConfigMap(catalogs).map(catalogVolume),
  ]
  const paths = new Map(parts.flatMap(({ paths }) => [...(paths ?? [])]))
  return {
    volumes: parts.flatMap(({ volumes }) => volumes),
    mounts: parts.flatMap(({ mounts }) => mounts),
    catalogPaths: catalogKeys(catalogs).flatMap((key) => paths.get(key) ?? []),
  }
}

interface Part extends Pick<Volumes, 'volumes' | 'mounts'> {
  /** File of each catalogue. */
  readonly paths?: ReadonlyMap<string, string>
}

function basics(gatewayName: string, configMap: string): Part {
  return {
    volumes: [
      { name: CONFIG_VOLUME, configMap: { name: configMap } },
      { name: 'tmp', emptyDir: {} },
      { ...deliveryVolume(gatewayName) },
    ],
    mounts: [
      { name: CONFIG_VOLUME, mountPath: BOOTSTRAP_MOUNT_PATH, readOnly: true },
      { name: 'tmp', mountPath: TMP_MOUNT_PATH },
      { name: DELIVERY_VOLUME, mountPath: DELIVERY_MOUNT_PATH, readOnly: true },
    ],
  }
}

/** Certificate authority and identity token of the mesh. */
function meshVolumes(): Part {
  const serviceAccountToken = { audience: 'istio-ca', expirationSeconds: MESH_TOKEN_SECONDS, path: 'istio-token' }
  return {
    volumes: [
      // Without a mesh in the cluster the pods start as well.
      { name: 'istiod-ca-cert', configMap: { name: 'istio-ca-root-cert', optional: true } },
      { name: 'istio-token', projected: { sources: [{ serviceAccountToken }] } },
    ],
    mounts: [
      { name: 'istiod-ca-cert', mountPath: '/var/run/secrets/istio', readOnly: true },
      { name: 'istio-token', mountPath: '/var/run/secrets/tokens', readOnly: true },
    ],
  }
}

interface CatalogConfigMap {
  readonly name: string
  readonly keys: readonly string[]
}

/** One volume for each ConfigMap, whatever number of its keys is used. */
function catalogsByConfigMap(catalogs: readonly ModelCatalogSource[]): CatalogConfigMap[] {
  const keys = new Map<string, Set<string>>()
  for (const { configMap } of catalogs) {
    const known = keys.get(configMap.name) ?? new Set()
    keys.set(configMap.name, known.add(configMap.key ?? CATALOG_KEY))
  }
  return [...keys].map(([name, used]) => ({ name, keys: [...used] }))
}

/** A directory, never single files (subPath): those would not see changes. Pods start without it, too. */
function catalogVolume({ name, keys }: CatalogConfigMap): Part {
  const volume = volumeName('model-catalog-', name)
  const folder = `${CATALOG_PATH}/${name}`
  const items = keys.map((key, index) => ({ key, path: index === 0 ? `${name}.json` : `${name}.${index}.json` }))
  return {
    volumes: [{ name: volume, configMap: { name, items, optional: true } }],
    mounts: [{ name: volume, mountPath: folder, readOnly: true }],
    paths: new Map(items.map(({ key, path }) => [catalogKey(name, key), `${folder}/${path}`])),
  }
}

/** Of a catalogue named twice the later place counts: later ones win. */
function catalogKeys(catalogs: readonly ModelCatalogSource[]): string[] {
  const keys = catalogs.map(({ configMap }) => catalogKey(configMap.name, configMap.key ?? CATALOG_KEY))
  return keys.filter((key, index) => keys.lastIndexOf(key) === index)
}

function catalogKey(name: string, key: string): string {
  return `${name}/${key}`
}
