// Images as OCI image layouts (https://github.com/opencontainers/image-spec): one folder for each name, with an index
// of all platforms. Equal archives give equal digests, and no container tool is needed.
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

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly os: string; readonly architecture: string }
  readonly annotations?: Readonly<Record<string, string>>
}

const TYPE = 'application/vnd.oci.image'
/** Layers of both images are the same: by the digest of the archive. */
const compressed = new Map<string, Buffer>()

/** Returns the digest of the index, by which registries know the image. */
export function writeOciLayout(
  folder: string,
  images: readonly PlatformImage[],
  { tag, created }: { readonly tag: string; readonly created: string },
): string {
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
  const manifests = images.map((image) => manifestOf(folder, image, created))
  const index = blob(
    folder,
    `${TYPE}.index.v1+json`,
    json({ schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests }),
  )
  writeFileSync(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
  const named = { ...index, annotations: { 'org.opencontainers.image.ref.name': tag } }
  writeFileSync(
    join(folder, 'index.json'),
    json({ schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests: [named] }),
  )
  return index.digest
}

function manifestOf(folder: string, { platform, context, config }: PlatformImage, created: string): Descriptor {
  const [os = '', architecture = ''] = platform.split('/')
  const archives = config.layers.map((name) => readFileSync(join(context, name)))
  const layers = archives.map((archive) => blob(folder, `${TYPE}.layer.v1.tar+gzip`, compress(archive)))
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
  const description = blob(folder, `${TYPE}.config.v1+json`, json(image))
  const mediaType = `${TYPE}.manifest.v1+json`
  const manifest = blob(folder, mediaType, json({ schemaVersion: 2, mediaType, config: description, layers }))
  return { ...manifest, platform: { os, architecture } }
}

function compress(archive: Uint8Array): Buffer {
  const key = digestOf(archive)
  const known = compressed.get(key) ?? gzipSync(archive)
  compressed.set(key, known)
  return known
}

function blob(folder: string, mediaType: string, content: Uint8Array): Descriptor {
  const digest = digestOf(content)
  const file = join(folder, 'blobs', digest.replace(':', '/'))
  if (!existsSync(file)) writeFileSync(file, content)
  return { mediaType, digest, size: content.length }
}

function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
