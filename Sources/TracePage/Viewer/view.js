"use strict";
fetch("session").then(answer => answer.json()).then(session => {
    document.getElementById("command").textContent = session.command.join(" ");
    document.title = session.session + " · Fathom";
}).catch(problem => { document.getElementById("problem").textContent = problem.message; });
