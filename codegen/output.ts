// The files a run produces. Collected first, then written or compared at once: a failing generator changes nothing.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { byCodePoint } from './names.ts'

/** Folders in which every file that matches is generated. */
const OWNED: readonly (readonly [folder: string, file: RegExp])[] = [
  ['api/admin', /\.gen\./],
  ['api/gateway', /\.gen\./],
  ['api/ir', /\.gen\./],
  ['api/v1alpha1', /\.gen\./],
  ['api/validate/kinds', /\.gen\./],
  ['config/crd', /\.yaml$/],
  ['docs/reference', /\.md$/],
]

export class Output {
  readonly #files = new Map<string, string>()

  /** @param path relative to the repository root */
  add(path: string, text: string): void {
    if (this.#files.has(path)) throw new Error(`two generators write ${path}`)
    this.#files.set(path, text.endsWith('\n') ? text : `${text}\n`)
  }

  paths(): string[] {
    return [...this.#files.keys()].sort(byCodePoint)
  }

  text(path: string): string | undefined {
    return this.#files.get(path)
  }

  /** Writes what differs, so that an unchanged file keeps its time stamp. */
  async write(root: string): Promise<string[]> {
    const changed = await this.differing(root)
    for (const path of changed) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), this.#files.get(path) ?? '')
    }
    return changed
  }

  async differing(root: string): Promise<string[]> {
    const changed: string[] = []
    for (const path of this.paths()) {
      const present = await readFile(join(root, path), 'utf8').catch(() => undefined)
      if (present !== this.#files.get(path)) changed.push(path)
    }
    return changed
  }

  /** Generated files on disk that no generator writes any more. */
  async orphans(root: string): Promise<string[]> {
    const found: string[] = []
    for (const [folder, file] of OWNED) {
      const names = await readdir(join(root, folder)).catch(() => [])
      found.push(...names.filter((name) => file.test(name)).map((name) => `${folder}/${name}`))
    }
    return found.filter((path) => !this.#files.has(path)).sort(byCodePoint)
  }

  static async remove(root: string, paths: readonly string[]): Promise<void> {
    for (const path of paths) await rm(join(root, path))
  }
}
