import { toApiKey } from '../../store/accounts/accounts.ts'
import { printSecret } from './standard-output.ts'

/** Prints a new password, and the API key for `Authorization: Basic`. */
export const printCredentials = (username: string, password: string) =>
  printSecret(
    `Password: ${password}\nAPI key: ${toApiKey(username, password)}\nSave them now. They won't be shown again.`,
    'password',
    `To issue another one: tillbridge account rotate ${username}`,
  )
