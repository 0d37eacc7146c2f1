// The frame of every page: a menu with groups of pages, and the content with its title.
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

export interface MenuPage {
  readonly title: string
  readonly href: string
  readonly isCurrent: boolean
}

export interface MenuGroup {
  readonly name: string
  readonly pages: readonly MenuPage[]
}

export interface FrameProps {
  readonly groups: readonly MenuGroup[]
  readonly title: string
  readonly children: ComponentChildren
}

export function Frame({ groups, title, children }: FrameProps) {
  useEffect(() => {
    document.title = `${title} · Gw`
    // On a phone the menu is one line that scrolls.
    document.querySelector('nav a[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [title])
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={focusContent}>
        Skip to the content
      </a>
      <header>
        <p class="brand">Gw</p>
        <nav aria-label="Pages">
          {groups.map(({ name, pages }) => (
            <div key={name}>
              <p>{name}</p>
              <ul>
                {pages.map((page) => (
                  <li key={page.title}>
                    <a href={page.href} aria-current={page.isCurrent ? 'page' : undefined}>
                      {page.title}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        <h1>{title}</h1>
        {children}
      </main>
    </div>
  )
}

/** Without a change of the page, which is in the same part of the URL. */
function focusContent(event: Event): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}
