// Reads the type declarations of the SDKs of the vendors, for tests.

/** The names of the members of an interface or a class that an SDK declares, such as `ChatCompletion.Choice`. */
export function declaredMembers(source: string, name: string): readonly string[] {
  const path = name.split('.')
  let rest = source
  for (const [depth, part] of path.entries()) {
    const indent = '    '.repeat(depth)
    const isLast = depth === path.length - 1
    const kind = isLast ? '(?:declare )?(?:interface|class)' : '(?:declare )?namespace'
    const found = new RegExp(
      `^${indent}(?:export )?${kind} ${part}(?: extends [^{]*)? \\{\\n([\\s\\S]*?)\\n${indent}\\}`,
      'm',
    )
    const body = found.exec(rest)?.[1]
    if (body === undefined) throw new Error(`the SDK declares no ${name}`)
    rest = body
  }
  const members = new RegExp(`^${'    '.repeat(path.length)}(\\w+)\\??:`, 'gm')
  return [...rest.matchAll(members)].map(([, member = '']) => member)
}
