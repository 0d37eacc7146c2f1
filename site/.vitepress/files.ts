// The pages of the site are copies of those of the repository. Their links to other files, such as samples, lead to
// copies as well: the site works without the repository.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** A link of Markdown to a path, with its anchor. */
const LINK = /(\]\()(?!#|\/|[a-z]+:)([^)\s#]+)(#[^)\s]*)?\)/g
/** For VitePress. */
const NOT_A_PAGE = '{target="_self"}'
const CODE = /^```.*?^```|`[^`\n]*`/gms

/** The place in the site of a page of the repository. */
export function placeOf(page: string): string {
  if (page === 'config/samples/README.md') return 'samples.md'
  // SECURITY.md and docs/security.md have one name where capitals do not count.
  if (!page.startsWith('docs/')) return `project/${page.toLowerCase()}`
  return page.slice('docs/'.length).replace(/README\.md$/, 'index.md')
}

/**
 * Writes the pages and files into the folder `to`, which it empties. `root`: the repository. `pages`: paths in it.
 * @throws {Error} A page links to a file that does not exist.
 */
export function copyPages(root: string, pages: readonly string[], to: string): void {
  rmSync(to, { recursive: true, force: true })
  const files = new Set<string>()
  const linkTo = (page: string, path: string): string => {
    const target = posix.join(posix.dirname(page), path).replace(/\/$/, '')
    if (!existsSync(join(root, target))) throw new Error(`${page} links to ${target}, which does not exist`)
    if (pages.includes(target)) return `/${placeOf(target)}`
    if (pages.includes(`${target}/README.md`)) return `/${placeOf(`${target}/README.md`)}`
    files.add(target)
    return `/files/${target}${isFolder(root, target) ? '/index.html' : ''}`
  }
  for (const page of pages) {
    const text = outsideCode(readFileSync(join(root, page), 'utf8'), (part) =>
      part.replaceAll(LINK, (_, open: string, path: string, anchor = '') => {
        const place = linkTo(page, path)
        return `${open}${place}${anchor})${place.startsWith('/files/') ? NOT_A_PAGE : ''}`
      }),
    )
    write(join(to, placeOf(page)), text)
  }
  for (const file of files) {
    cpSync(join(root, file), join(to, 'public/files', file), { recursive: true })
    if (isFolder(root, file)) write(join(to, 'public/files', file, 'index.html'), listing(file, join(root, file)))
  }
}

function outsideCode(text: string, change: (part: string) => string): string {
  let end = 0
  let changed = ''
  for (const { index, 0: code } of text.matchAll(CODE)) {
    changed += change(text.slice(end, index)) + code
    end = index + code.length
  }
  return changed + change(text.slice(end))
}

function isFolder(root: string, path: string): boolean {
  return statSync(join(root, path)).isDirectory()
}

function listing(path: string, folder: string): string {
  const items = readdirSync(folder).map((name) => `<li><a href="${encodeURIComponent(name)}">${name}</a></li>`)
  return `<!doctype html><meta charset="utf-8"><title>${path}</title><h1>${path}</h1><ul>${items.join('')}</ul>\n`
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
