import { useLayoutEffect, useState } from 'preact/hooks'

// The address is `#/luma/customer/65432?q=…`: the service, the screen and its record. It follows the `#`, so record numbers reach neither the
// server nor its log. An address without a service, such as `#customer/65432`, is completed with the selected service.

/** The beginning of all links: `#/luma/`. Empty if no service is selected. */
let start = ''

/** True if the address has a service. */
const hasService = () => location.hash.startsWith('#/')

/** Adds the selected service to an address without one. A one-time link has none. */
function completeAddress() {
  if (start && !hasService() && !location.hash.startsWith('#link='))
    history.replaceState(null, '', start + location.hash.slice(1))
}

/** Returns true to stay on the screen. @type {((address: string) => boolean) | undefined} */
let guard

/** Asks `isKept` before each new address is shown. Returns a function that ends it. @param {(address: string) => boolean} isKept true: the screen stays */
export function guardAddress(isKept) {
  guard = isKept
  return () => {
    guard = undefined
  }
}

// Runs before the other listeners, because it is the first one.
addEventListener('hashchange', event => {
  if (guard?.(location.hash)) {
    event.stopImmediatePropagation()
    history.pushState(null, '', event.oldURL)
  } else completeAddress()
})

/** Selects the service of all links, and of an address without a service. @param {string} name empty: no service */
export function setRouteService(name) {
  start = name && `#/${encodeURIComponent(name)}/`
  completeAddress()
}

/** Returns the parts of the address before the `?`. @returns {string[]} */
const splitAddress = () => (location.hash.slice(1).split('?')[0] ?? '').split('/').filter(Boolean).map(decodePart)

/** Returns the name of the service in the address, if there is one. */
const readService = () => (hasService() ? splitAddress()[0] : undefined)

/** Returns the parts of the route: `#/luma/customer/65432` is `['customer', '65432']`. @returns {string[]} */
const readParts = () => splitAddress().slice(hasService() ? 1 : 0)

/** Decodes a part. Returns it unchanged if it isn't URL-encoded. @param {string} part */
function decodePart(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Renders again if the address changes. */
function useAddress() {
  const [, update] = useState({})
  // A layout effect, so that no change between render and paint is missed.
  useLayoutEffect(() => {
    const render = () => update({})
    addEventListener('hashchange', render)
    return () => removeEventListener('hashchange', render)
  }, [])
}

/** Returns the parts of the route, and renders again if they change. */
export function useRoute() {
  useAddress()
  return readParts()
}

/** Returns the service in the address, if there is one, and renders again if it changes. */
export function useRouteService() {
  useAddress()
  return readService()
}

/** Returns the parameters after the `?` of the address. */
export const readQuery = () => new URLSearchParams(location.hash.split('?')[1] ?? '')

/** Replaces the parameters in the address, so that Back and a shared link restore the screen. @param {Record<string, string>} query without empty values */
export function replaceQuery(query) {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString()
  history.replaceState(null, '', `${location.hash.split('?')[0]}${text && `?${text}`}`)
}

/**
 * Returns a parameter of the address and a function that changes it. The address doesn't contain the default.
 * @param {string} name @param {string} defaultValue @returns {[value: string, change: (value: string) => void]}
 */
export function useQueryValue(name, defaultValue) {
  useAddress()
  const [, update] = useState({})
  const change = (/** @type {string} */ value) => {
    replaceQuery({ ...Object.fromEntries(readQuery()), [name]: value === defaultValue ? '' : value })
    update({})
  }
  return [readQuery().get(name) ?? defaultValue, change]
}

/** Returns the link to a route of the selected service. @param {string[]} parts */
export const linkTo = (...parts) => `${start || '#'}${parts.map(encodeURIComponent).join('/')}`
/** Returns the link to a list with a search or filter. @param {string} screen @param {Record<string, string>} query */
export const linkToList = (screen, query) => `${linkTo(screen)}?${new URLSearchParams(query)}`
/** Returns the link to a screen of another service. @param {string} service @param {string[]} parts */
export const linkToService = (service, ...parts) => `#${['', service, ...parts].map(encodeURIComponent).join('/')}`
/** @param {string[]} parts */
export const goTo = (...parts) => {
  location.hash = linkTo(...parts)
}

/** The last address of each screen in this tab, by its address without parameters. @type {Map<string, string>} */
const lastAddresses = new Map()
addEventListener('hashchange', ({ oldURL }) => {
  const address = new URL(oldURL).hash
  lastAddresses.set(address.split('?')[0] ?? '', address)
})

/** Returns the link to a screen as it was left: with its search, filter and place. @param {string[]} parts */
export const linkBackTo = (...parts) => lastAddresses.get(linkTo(...parts)) ?? linkTo(...parts)
