// Follows the pages of an identity provider as the browser of a user who agrees: cookies, redirects, forms.

const HOPS_MAX = 20

/** The URL at `callback` to which the user returns, with its query. */
export async function signIn(start: URL, callback: string, login = 'alice'): Promise<URL> {
  const cookies = new Map<string, string>()
  let request: { url: URL; form?: URLSearchParams } = { url: start }
  for (let hop = 0; hop < HOPS_MAX; hop++) {
    const { url, form } = request
    if (url.href.startsWith(callback)) return url
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const page = await response.text()
    const location = response.headers.get('location')
    if (location !== null) request = { url: new URL(location, url) }
    else request = submitted(page, login, `${response.status} of ${url.href}`)
  }
  throw new Error(`more than ${HOPS_MAX} pages`)
}

function submitted(page: string, login: string, what: string): { url: URL; form: URLSearchParams } {
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
  const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1]
  if (action === undefined || prompt === undefined) throw new Error(`${what} is not a form: ${page.slice(0, 500)}`)
  const form = new URLSearchParams({ prompt })
  if (prompt === 'login') {
    form.set('login', login)
    form.set('password', 'any')
  }
  return { url: new URL(action), form }
}
