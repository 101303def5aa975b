import { useEffect, useState } from 'preact/hooks'
import { Frame } from './frame.js'
import { callApi, selectService, session } from './lib/api.js'
import { html } from './lib/html.js'
import { takeProviderResponse } from './lib/provider-response.js'
import { linkToService, setRouteService, useRouteService } from './lib/route.js'
import { t } from './lib/text.js'
import { setTimeZone } from './lib/time.js'
import { SignIn } from './sign-in.js'

const serviceKey = 'tillbridge service'

/** The console: the sign-in page, or the frame with a screen. */
export function App() {
  const [signedIn, setSignedIn] = useState(
    /** @type {import('./lib/role.js').SignedIn | null | undefined} */ (undefined),
  )
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined))
  const addressed = useRouteService()

  useEffect(() => {
    session.onEnd = reason => {
      selectService('')
      setError(reason)
      setSignedIn(null)
    }
    const open = () =>
      loadSession().then(setSignedIn, reason => {
        setError(reason)
        setSignedIn(null)
      })
    open()
    // If a sign-in link is pasted into an open page, the browser doesn't load the page again.
    const openLink = () => {
      if (!readSignInLink()) return
      selectService('')
      setError(undefined)
      setSignedIn(undefined)
      open()
    }
    addEventListener('hashchange', openLink)
    return () => removeEventListener('hashchange', openLink)
  }, [])

  if (signedIn === undefined) return html`<p class="opening">Opening the console…</p>`
  if (signedIn === null)
    return html`<${SignIn}
      reason=${error}
      done=${(/** @type {import('./lib/role.js').SignedIn} */ account) => {
        setError(undefined)
        setSignedIn(account)
      }}
    />`

  const name = addressed ?? localStorage.getItem(serviceKey)
  const service =
    signedIn.services.find(candidate => candidate.name === name) ?? (addressed ? undefined : signedIn.services[0])
  if (!service) return html`<${NoService} name=${addressed} services=${signedIn.services} />`
  localStorage.setItem(serviceKey, service.name)
  selectService(service.name)
  setRouteService(service.name)
  setTimeZone(service.timeZone)
  const signOut = async () => {
    const { data } = await callApi('console/session', { method: 'DELETE' })
    selectService('')
    if (data?.signOutUrl) location.assign(data.signOutUrl)
    else setSignedIn(null)
  }
  return html`<${Frame} key=${service.name} signedIn=${signedIn} service=${service} signOut=${signOut} />`
}

/** @param {{ name: string | undefined, services: { name: string }[] }} props `name`: the service in the address */
const NoService = ({ name, services }) => html`<main class="sign-in">
  <h1>${name ? t('No access to {name}', { name }) : t('No service')}</h1>
  <div class="empty">
    <p>${name ? t("Your account has no access to the service {name}, or it doesn't exist. Ask an admin for access.", { name }) : t('Your account has no service. Ask an admin for access.')}</p>
    <p class="choices">${services.map(service => html`<a class="button" key=${service.name} href=${linkToService(service.name)}>${t('Open {name}', { name: service.name })}</a>`)}</p>
  </div>
</main>`

/** Returns the token of the one-time link in the address, if any. */
const readSignInLink = () => /^#link=(.+)$/.exec(location.hash)?.[1]

/** Opens a session with the identity provider's response or the one-time link in the address, or loads the existing session. */
async function loadSession() {
  const response = takeProviderResponse()
  if (response !== undefined)
    return (await callApi('console/session/provider', { method: 'POST', body: { response } })).data
  const link = readSignInLink()
  if (link === undefined) return (await callApi('console/session')).data
  // Keeps the link out of the browser's history.
  history.replaceState(null, '', location.pathname)
  return (await callApi('console/session/link', { method: 'POST', body: { link } })).data
}
