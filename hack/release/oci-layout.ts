// OCI image layouts (https://github.com/opencontainers/image-spec): one folder for each name of a registry, with all
// that has a tag there. Equal content gives equal digests, and no container tool is needed.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { ImageConfig } from './dockerfile.ts'

export interface PlatformImage {
  /** linux/amd64 */
  readonly platform: string
  /** Folder with the archives of the layers. */
  readonly context: string
  readonly config: ImageConfig
}

export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly os: string; readonly architecture: string }
  readonly annotations?: Readonly<Record<string, string>>
}

export interface WrittenImage {
  /** By which registries know the image. */
  readonly digest: string
  /** Digest of each platform. */
  readonly platforms: ReadonlyMap<string, string>
}

const TYPE = 'application/vnd.oci.image'
export const CONFIG_TYPE = `${TYPE}.config.v1+json`
/** Layers of both images are the same: by the digest of the archive. */
const compressed = new Map<string, Buffer>()

/** A folder that grows. */
export class OciLayout {
  readonly folder: string
  readonly #tagged: Descriptor[] = []

  constructor(folder: string) {
    this.folder = folder
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
    writeFileSync(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
  }

  /** In the order in which they were given. */
  get tags(): readonly string[] {
    return this.#tagged.map(({ annotations }) => annotations?.['org.opencontainers.image.ref.name'] ?? '')
  }

  blob(mediaType: string, content: Uint8Array): Descriptor {
    const digest = digestOf(content)
    const file = join(this.folder, 'blobs', digest.replace(':', '/'))
    if (!existsSync(file)) writeFileSync(file, content)
    return { mediaType, digest, size: content.length }
  }

  manifest(config: Descriptor, layers: readonly Descriptor[], more: object = {}): Descriptor {
    const mediaType = `${TYPE}.manifest.v1+json`
    return this.blob(mediaType, json({ schemaVersion: 2, mediaType, config, layers, ...more }))
  }

  index(manifests: readonly Descriptor[]): Descriptor {
    const mediaType = `${TYPE}.index.v1+json`
    return this.blob(mediaType, json({ schemaVersion: 2, mediaType, manifests }))
  }

  tag(name: string, descriptor: Descriptor): void {
    this.#tagged.push({ ...descriptor, annotations: { 'org.opencontainers.image.ref.name': name } })
    const index = { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests: this.#tagged }
    writeFileSync(join(this.folder, 'index.json'), json(index))
  }
}

/** An index of all platforms. */
export function writeImage(
  layout: OciLayout,
  images: readonly PlatformImage[],
  { tag, created }: { readonly tag: string; readonly created: string },
): WrittenImage {
  const manifests = images.map((image) => manifestOf(layout, image, created))
  const index = layout.index(manifests)
  layout.tag(tag, index)
  const platforms = new Map(images.map(({ platform }, place) => [platform, manifests[place]?.digest ?? '']))
  return { digest: index.digest, platforms }
}

function manifestOf(layout: OciLayout, { platform, context, config }: PlatformImage, created: string): Descriptor {
  const [os = '', architecture = ''] = platform.split('/')
  const archives = config.layers.map((name) => readFileSync(join(context, name)))
  const layers = archives.map((archive) => layout.blob(`${TYPE}.layer.v1.tar+gzip`, compress(archive)))
  const image = {
    created,
    architecture,
    os,
    config: {
      User: config.user,
      Env: config.env,
      Entrypoint: config.entrypoint,
      Cmd: config.cmd,
      WorkingDir: config.workingDir,
      Labels: config.labels,
    },
    rootfs: { type: 'layers', diff_ids: archives.map((archive) => digestOf(archive)) },
    history: config.layers.map((name) => ({ created, created_by: `ADD ${name} /` })),
  }
  const manifest = layout.manifest(layout.blob(CONFIG_TYPE, json(image)), layers)
  return { ...manifest, platform: { os, architecture } }
}

function compress(archive: Uint8Array): Buffer {
  const key = digestOf(archive)
  const known = compressed.get(key) ?? gzipSync(archive)
  compressed.set(key, known)
  return known
}

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
