import { apiKeyOf } from '../../store/accounts/accounts.ts'
import { printSecret } from './standard-output.ts'

/** Says a password that was just made. The API key is ready for `Authorization: Basic`. */
export const printCredentials = (username: string, password: string) =>
  printSecret(
    `Password: ${password}\nAPI key: ${apiKeyOf(username, password)}\nThey are shown this once and cannot be read again.`,
    'password',
    `for another: tillbridge user rotate ${username}`,
  )
