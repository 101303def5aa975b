const screenKey = 'tillbridge screen'

/** Remembers the open screen while the browser is at the identity provider. */
export const rememberScreen = () => sessionStorage.setItem(screenKey, location.hash)

/**
 * Returns the identity provider's response in the address, if there is one. Removes it from the address and the browser's history, and goes
 * back to the screen of `rememberScreen`.
 */
export function takeProviderResponse() {
  const { search, pathname } = location
  const parameters = new URLSearchParams(search)
  if (!parameters.has('state') || !(parameters.has('code') || parameters.has('error'))) return undefined
  history.replaceState(null, '', pathname + (sessionStorage.getItem(screenKey) ?? ''))
  sessionStorage.removeItem(screenKey)
  return search.slice(1)
}
