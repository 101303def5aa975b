import { useEffect, useState } from 'preact/hooks'
import { Problem } from './components/problem.js'
import { Frame } from './frame.js'
import { actOn, ask, Refused, session } from './lib/api.js'
import { html } from './lib/html.js'
import { SignIn } from './sign-in.js'

const chosenKey = 'tillbridge service'

/** The console: where to sign in, or the frame around the screens. */
export function App() {
  const [signedIn, setSignedIn] = useState(
    /** @type {import('./lib/role.js').SignedIn | null | undefined} */ (undefined),
  )
  const [fault, setFault] = useState(/** @type {Refused | undefined} */ (undefined))
  const [chosen, setChosen] = useState(() => localStorage.getItem(chosenKey))

  useEffect(() => {
    session.ended = refused => {
      actOn('')
      setFault(refused)
      setSignedIn(null)
    }
    const open = () =>
      begin().then(setSignedIn, refused => {
        setFault(refused)
        setSignedIn(null)
      })
    open()
    // A link that is put into the address of a page that is open already has it load nothing.
    const change = () => {
      if (!linkNow()) return
      actOn('')
      setFault(undefined)
      setSignedIn(undefined)
      open()
    }
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])

  if (signedIn === undefined) return html`<p class="opening">Opening the console…</p>`
  if (signedIn === null)
    return html`<${SignIn}
      fault=${fault}
      done=${(/** @type {import('./lib/role.js').SignedIn} */ found) => {
        setFault(undefined)
        setSignedIn(found)
      }}
    />`

  const service = signedIn.services.find(({ name }) => name === chosen) ?? signedIn.services[0]
  if (!service)
    return html`<${Problem} error=${new Refused({ code: 'service_not_assigned', title: 'This account has no service.' })} />`
  actOn(service.name)
  const choose = (/** @type {string} */ name) => {
    localStorage.setItem(chosenKey, name)
    setChosen(name)
  }
  const leave = async () => {
    await ask('console/session', { method: 'DELETE' })
    actOn('')
    setSignedIn(null)
  }
  return html`<${Frame} key=${service.name} signedIn=${signedIn} service=${service} choose=${choose} leave=${leave} />`
}

/** The one-time link that the address is. */
const linkNow = () => /^#link=(.+)$/.exec(location.hash)?.[1]

/** Who is signed in: by the one-time link that is the page's address, or from before. */
async function begin() {
  const link = linkNow()
  if (link === undefined) return (await ask('console/session')).data
  // It has done its work, and is not left in the history.
  history.replaceState(null, '', location.pathname)
  return (await ask('console/session/link', { method: 'POST', body: { link } })).data
}
