// How each container tool is asked to build. All of them know the same words, but for what makes an image reproducible.

/** In the order in which they are tried. */
export const TOOLS = ['docker', 'buildah', 'nerdctl', 'podman']

/** They would write the present time into the image. */
const TAKES_TIMESTAMP: ReadonlySet<string> = new Set(['buildah', 'podman'])

export interface BuildOptions {
  readonly program: string
  /** Folder with the Dockerfile and what it adds. */
  readonly context: string
  readonly target: string
  readonly image: string
  readonly labels: Readonly<Record<string, string>>
  /** Such as linux/arm64; undefined: that of this machine. */
  readonly platform: string | undefined
  /** Seconds. */
  readonly epoch: number
}

export function buildArguments({ program, context, target, image, labels, platform, epoch }: BuildOptions): string[] {
  return [
    'build',
    ...(TAKES_TIMESTAMP.has(program) ? ['--timestamp', String(epoch)] : []),
    ...(platform === undefined ? [] : ['--platform', platform]),
    '-f',
    `${context}/Dockerfile`,
    '--target',
    target,
    '-t',
    image,
    ...Object.entries(labels).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]),
    context,
  ]
}
