import { useEffect, useState } from 'preact/hooks'
import { Problem } from './components/problem.js'
import { Frame } from './frame.js'
import { ApiError, callApi, selectService, session } from './lib/api.js'
import { html } from './lib/html.js'
import { SignIn } from './sign-in.js'

const serviceKey = 'tillbridge service'

/** The console: where to sign in, or the frame around the screens. */
export function App() {
  const [signedIn, setSignedIn] = useState(
    /** @type {import('./lib/role.js').SignedIn | null | undefined} */ (undefined),
  )
  const [fault, setFault] = useState(/** @type {ApiError | undefined} */ (undefined))
  const [chosen, setChosen] = useState(() => localStorage.getItem(serviceKey))

  useEffect(() => {
    session.ended = refused => {
      selectService('')
      setFault(refused)
      setSignedIn(null)
    }
    const open = () =>
      loadSession().then(setSignedIn, refused => {
        setFault(refused)
        setSignedIn(null)
      })
    open()
    // A link that is put into the address of a page that is open already has it load nothing.
    const change = () => {
      if (!readSignInLink()) return
      selectService('')
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
    return html`<${Problem} error=${new ApiError({ code: 'service_not_assigned', title: 'This account has no service.' })} />`
  selectService(service.name)
  const choose = (/** @type {string} */ name) => {
    localStorage.setItem(serviceKey, name)
    setChosen(name)
  }
  const leave = async () => {
    await callApi('console/session', { method: 'DELETE' })
    selectService('')
    setSignedIn(null)
  }
  return html`<${Frame} key=${service.name} signedIn=${signedIn} service=${service} choose=${choose} leave=${leave} />`
}

/** The one-time link that the address is. */
const readSignInLink = () => /^#link=(.+)$/.exec(location.hash)?.[1]

/** Who is signed in: by the one-time link that is the page's address, or from before. */
async function loadSession() {
  const link = readSignInLink()
  if (link === undefined) return (await callApi('console/session')).data
  // It has done its work, and is not left in the history.
  history.replaceState(null, '', location.pathname)
  return (await callApi('console/session/link', { method: 'POST', body: { link } })).data
}
