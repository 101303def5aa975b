import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** @typedef {{ username: string, services: { name: string, role: string, timeZone: string, retailerName: string }[] }} SignedIn */

/** Each role includes the ones before it. The server checks the role again. */
const roles = ['visitor', 'maintainer', 'admin']
/** @param {string} role @param {string} required */
export const includesRole = (role, required) => roles.indexOf(role) >= roles.indexOf(required)

/** The account's role in the selected service. */
export const RoleContext = createContext('visitor')

/** True if the account has at least this role in the selected service. @param {string} required */
export const useHasRole = required => includesRole(useContext(RoleContext), required)

/** The username of the signed-in account. */
export const UsernameContext = createContext('')

/** The services of the account. */
export const ServicesContext = createContext(/** @type {SignedIn['services']} */ ([]))

/** The screens that the account can open. @type {import('preact').Context<{ path: string, group: string, title: string }[]>} */
export const PagesContext = createContext(/** @type {{ path: string, group: string, title: string }[]} */ ([]))
