// The charts of a release: archives that depend on their content only, and the same as OCI image layouts, in the form
// in which `helm push` writes them to a registry.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { archive } from '../image/root.ts'
import { json, OciLayout } from './oci-layout.ts'

export interface ChartOptions {
  /** Folder of the chart. */
  readonly source: string
  readonly name: string
  /** Of its images. */
  readonly registry: string
  /** Folder for work. */
  readonly cache: string
  /** Folder of the result. */
  readonly output: string
  /** Seconds since 1970; the time of all files. */
  readonly epoch: number
  /** Runs helm. */
  readonly helm: (...args: readonly string[]) => void
}

export interface PackedChart {
  readonly name: string
  readonly version: string
  readonly layout: OciLayout
  readonly digest: string
}

/** The images of a published chart are those of the same registry. */
export function packChart({ source, name, registry, cache, output, epoch, helm }: ChartOptions): PackedChart {
  const copy = join(cache, name)
  rmSync(copy, { recursive: true, force: true })
  cpSync(source, copy, { recursive: true })
  const file = join(copy, 'values.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^( +registry: )gw\.dev$/gm, `$1${registry}`))
  const work = mkdtempSync(join(cache, 'packed-'))
  try {
    // Checks the chart and leaves out what does not belong to it, but writes the time.
    helm('package', copy, '--destination', work)
    const metadata = parse(readFileSync(join(copy, 'Chart.yaml'), 'utf8')) as ChartMetadata // helm has checked it
    const packed = `${name}-${metadata.version}`
    mkdirSync(join(work, 'content'))
    execFileSync('tar', ['-xmzf', join(work, `${packed}.tgz`), '-C', join(work, 'content')])
    // Modes of a clone depend on the umask.
    archive(join(work, 'content'), join(work, `${packed}.tar`), epoch, ['--mode=u=rwX,go=rX'])
    const content = gzipSync(readFileSync(join(work, `${packed}.tar`)))
    writeFileSync(join(output, `${packed}.tgz`), content)
    return { name, version: metadata.version, ...chartLayout(join(output, name), metadata, content, epoch) }
  } finally {
    rmSync(work, { recursive: true })
  }
}

interface ChartMetadata {
  readonly name: string
  readonly version: string
  readonly description?: string
}

function chartLayout(
  folder: string,
  metadata: ChartMetadata,
  content: Uint8Array,
  epoch: number,
): Pick<PackedChart, 'layout' | 'digest'> {
  const layout = new OciLayout(folder)
  const { name, version, description = '' } = metadata
  const annotations = {
    'org.opencontainers.image.created': new Date(epoch * 1000).toISOString(),
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.title': name,
    'org.opencontainers.image.version': version,
  }
  const config = layout.blob('application/vnd.cncf.helm.config.v1+json', json(metadata))
  const layer = layout.blob('application/vnd.cncf.helm.chart.content.v1.tar+gzip', content)
  const manifest = layout.manifest(config, [layer], { annotations })
  // As helm does: tags of registries have no `+`.
  layout.tag(version.replaceAll('+', '_'), manifest)
  return { layout, digest: manifest.digest }
}
