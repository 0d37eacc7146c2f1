// What images/Dockerfile says about each image, so that a release needs no container tool. Knows the instructions that
// the file has, in their exec forms, and rejects all others.

export interface ImageConfig {
  /** Archives of the context, in the order of the layers. */
  readonly layers: readonly string[]
  readonly env: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly user: string
  readonly workingDir: string
  readonly entrypoint: readonly string[]
  readonly cmd: readonly string[]
}

const EMPTY: ImageConfig = { layers: [], env: [], labels: {}, user: '', workingDir: '', entrypoint: [], cmd: [] }
const PAIR = /([\w.]+)=(?:"([^"]*)"|(\S+))/g

/** The image of a target. `args`: values of ARG. @throws {Error} for an instruction that it does not know. */
export function readDockerfile(text: string, target: string, args: Readonly<Record<string, string>>): ImageConfig {
  const stages = new Map<string, ImageConfig>([['scratch', EMPTY]])
  let current = ''
  for (const line of text.replaceAll(/\\\n\s*/g, ' ').split('\n')) {
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (word === '' && (line === '' || line.startsWith('#'))) continue
    if (word === 'FROM') {
      const [, base = '', name = ''] = /^(\S+) AS (\S+)$/.exec(rest) ?? []
      current = name
      stages.set(name, stageOf(stages, base))
    } else stages.set(current, changed(stageOf(stages, current), word, filled(rest, args)))
  }
  return stageOf(stages, target)
}

function stageOf(stages: ReadonlyMap<string, ImageConfig>, name: string): ImageConfig {
  const stage = stages.get(name)
  if (stage === undefined) throw new Error(`images/Dockerfile has no stage ${name}`)
  return stage
}

function filled(text: string, args: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$([A-Z]+)/g, (_, name: string) => args[name] ?? '')
}

function changed(image: ImageConfig, word: string, rest: string): ImageConfig {
  switch (word) {
    case 'ARG':
      return image
    case 'ADD':
      return { ...image, layers: [...image.layers, rest.replace(/ \/$/, '')] }
    case 'ENV':
      return { ...image, env: [...image.env, ...pairs(rest).map(([name, value]) => `${name}=${value}`)] }
    case 'LABEL':
      return { ...image, labels: { ...image.labels, ...Object.fromEntries(pairs(rest)) } }
    case 'USER':
      return { ...image, user: rest }
    case 'WORKDIR':
      return { ...image, workingDir: rest }
    case 'ENTRYPOINT':
      return { ...image, entrypoint: JSON.parse(rest) as string[], cmd: [] } // an exec form
    case 'CMD':
      return { ...image, cmd: JSON.parse(rest) as string[] } // an exec form
    default:
      throw new Error(`images/Dockerfile: unknown instruction ${word}`)
  }
}

function pairs(text: string): [string, string][] {
  return [...text.matchAll(PAIR)].map(([, name = '', quoted, plain = '']) => [name, quoted ?? plain])
}
