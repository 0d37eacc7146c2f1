// The files in one ConfigMap or Secret, and those of the mounted volume.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '#api/delivery/document.ts'
import { field } from './object-watch.ts'

export function filesOfConfigMap(object: unknown): Files {
  const files: Files = new Map()
  for (const [name, text] of texts(field(object, 'data'))) files.set(name, Buffer.from(text, 'utf8'))
  for (const [name, text] of texts(field(object, 'binaryData'))) files.set(name, Buffer.from(text, 'base64'))
  return files
}

export function filesOfSecret(object: unknown): Files {
  return new Map(texts(field(object, 'data')).map(([name, text]) => [name, Buffer.from(text, 'base64')]))
}

function texts(value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}

/** Empty if the folder does not exist. The kubelet replaces the folder as a whole; names with two dots are its own. */
export function filesOfFolder(folder: string): Files {
  const files: Files = new Map()
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    // Outside a pod there is no mount.
    return files
  }
  for (const name of names) if (!name.startsWith('..')) files.set(name, readFileSync(join(folder, name)))
  return files
}
