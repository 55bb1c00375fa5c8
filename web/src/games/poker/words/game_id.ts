// The game's name in the API and in addresses.

export const GAME = "poker";
