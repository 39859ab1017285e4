/** Default counts suit every change; a nightly run looks further. */
export function runs(count: number): number {
  return process.env['PARTITA_NIGHTLY'] === undefined ? count : count * 20
}
