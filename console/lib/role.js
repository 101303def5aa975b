import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** @typedef {{ username: string, services: { name: string, role: string }[] }} SignedIn */

/** A ladder: each role may do what the ones before it may. The server judges again. */
const roles = ['visitor', 'maintainer', 'admin']
/** @param {string} role @param {string} needed */
export const includesRole = (role, needed) => roles.indexOf(role) >= roles.indexOf(needed)

/** The role of whoever is signed in, in the service that is chosen. */
export const RoleContext = createContext('visitor')

/** Whether whoever is signed in may do what needs a role. @param {string} needed */
export const useHasRole = needed => includesRole(useContext(RoleContext), needed)
