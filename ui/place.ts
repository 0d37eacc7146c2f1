// The place in the UI: the part of the URL after `#` is the page, and what is selected there, so that links can name
// both.
import { useEffect, useState } from 'preact/hooks'

export interface UiPlace {
  readonly page: string
  /** Empty: nothing is selected. */
  readonly item: string
}

export function hrefOf(page: string, item = ''): string {
  return item === '' ? `#/${page}` : `#/${page}/${encodeURIComponent(item)}`
}

export function placeOf(hash: string): UiPlace {
  const [, page = '', item = ''] = /^#\/([^/]*)(?:\/(.*))?$/.exec(hash) ?? []
  try {
    return { page, item: decodeURIComponent(item) }
  } catch {
    // The URL was changed by hand.
    return { page, item: '' }
  }
}

export function usePlace(): UiPlace {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const changed = (): void => setHash(location.hash)
    addEventListener('hashchange', changed)
    // It may have changed since the page was drawn.
    changed()
    return () => removeEventListener('hashchange', changed)
  }, [])
  return placeOf(hash)
}

/** What is selected on a page, and a function that selects something else; the empty text selects nothing. */
export function useItem(page: string): readonly [item: string, select: (item: string) => void] {
  const { item } = usePlace()
  const select = (next: string): void => {
    location.hash = hrefOf(page, next)
  }
  return [item, select]
}
